//! A mass that flies to and fro between two limit stops, in closed form.

/// What it is and how it starts: from the middle, towards the upper stop.
#[derive(Clone, Copy)]
pub struct BetweenStops {
    /// \[kg\]
    pub mass: f64,
    /// Distance of either stop from the middle \[m\].
    pub stop: f64,
    /// Of the stops \[N/m\].
    pub stiffness: f64,
    /// Of the stops \[N·s/m\], less than critical.
    pub damping: f64,
    /// Initial speed \[m/s\].
    pub speed: f64,
}

impl BetweenStops {
    /// Position \[m\] and velocity \[m/s\] at a time \[s\] from the start.
    pub fn at(&self, time: f64) -> (f64, f64) {
        let decay = 0.5 * self.damping / self.mass;
        let frequency = (self.stiffness / self.mass - decay * decay).sqrt();
        // A stop holds on until the mass is back where it touched, after half a damped oscillation.
        let contact = core::f64::consts::PI / frequency;
        let (mut left, mut q, mut u) = (time, 0.0, self.speed);
        loop {
            let stop = self.stop * u.signum();
            let flight = (stop - q) / u;
            if left <= flight {
                return (q + u * left, u);
            }
            left -= flight;
            if left <= contact {
                let (sin, cos) = (frequency * left).sin_cos();
                let shrunk = u * (-decay * left).exp();
                return (stop + shrunk * sin / frequency, shrunk * (cos - decay / frequency * sin));
            }
            left -= contact;
            (q, u) = (stop, -u * (-decay * contact).exp());
        }
    }
}
