//! The energy account of an element, and the evidence in its history that steps are too long.

/// The energy account of one element, in plain numbers \[J\], and its history in the steps of a host. The history begins
/// when the account is opened, and after a motion or a write whose work is not known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    pub(crate) is_open: bool,
    /// The largest energy that the element has dissipated; negative infinity before its history begins.
    dissipated: f64,
    /// The largest magnitude of its stored energy; before its history begins, the last one.
    pub(super) stored: f64,
    /// The number of steps in a row after which it has returned more than all of the stored energy, without having
    /// received it.
    gaining: u32,
    /// The energy returned after the first of these steps.
    first_gain: f64,
    /// The number of steps in a row after which it has released the stored energy, and more.
    released: u32,
    /// The greatest rounding of these energies.
    rounding: f64,
    /// The energy that it had dissipated after the last step \[J\], and the power that it dissipated then \[W\].
    last: [f64; 2],
    /// Over the steps in which it has [reversed](Self::reverses) the motion that it slows down: the energy that it would
    /// have dissipated, the most of this in one of them, and the energy that it has dissipated.
    reversed: [f64; 3],
}

impl Account {
    /// The account before its history begins.
    pub(super) const CLOSED: Self = Self {
        is_open: false,
        dissipated: f64::NEG_INFINITY,
        stored: f64::INFINITY,
        gaining: 0,
        first_gain: 0.0,
        released: 0,
        rounding: 0.0,
        last: [f64::INFINITY, 0.0],
        reversed: [0.0; 3],
    };

    /// An open account, at a motion at which this energy is stored and nothing has been dissipated.
    pub(super) fn opened(stored: f64) -> Self {
        Self { is_open: true, dissipated: 0.0, stored, ..Self::CLOSED }
    }

    /// Opens or closes the account; its history restarts.
    pub(crate) fn begin(&mut self, is_open: bool) {
        *self = Self { is_open, ..Self::CLOSED };
    }

    /// Records the energies after a step. Returns the energy returned without having been received, if it is
    /// [too large](GAINED) once most of the stored energy has been released and [stays so](PERSISTENT), or
    /// [grows](EXPLODED) from step to step.
    pub(super) fn gain(&mut self, absorbed: f64, stored: f64, rounding: f64) -> Option<f64> {
        // While energy is being released, the amount from which this began, by which the gain is judged, is not known.
        if self.dissipated == f64::NEG_INFINITY && stored.abs() <= self.stored {
            self.stored = stored.abs();
            return None;
        }
        let dissipated = absorbed - stored;
        self.dissipated = self.dissipated.max(dissipated);
        self.stored = self.stored.max(stored.abs());
        self.rounding = self.rounding.max(rounding);
        let gained = self.dissipated - dissipated;
        let is_gaining = gained > self.stored + self.rounding;
        self.gaining = if is_gaining { self.gaining.saturating_add(1) } else { 0 };
        if self.gaining == 1 {
            self.first_gain = gained;
        }
        let is_released =
            stored.abs() < RELEASED * self.stored && gained > GAINED * self.stored + self.rounding;
        self.released = if is_released { self.released.saturating_add(1) } else { 0 };
        let grows = self.gaining >= PERSISTENT && gained > EXPLODED * self.first_gain;
        (self.released >= PERSISTENT || grows && self.stored > 0.0).then_some(gained)
    }

    /// Records a step of length `h` in which forces were held, and returns whether friction alternates.
    ///
    /// If the velocity that friction or a damper slows down is reversed in each step, hardly any of the energy that its
    /// power at the start of the steps would take is lost. An impact does so for a few steps, in which its friction would
    /// lose about as much as is stored; and the force of a contact that opens fades from step to step. Under a continuing
    /// load that is too large for the step, the energy that is not lost becomes [larger than that](ALTERNATING) in
    /// [similar steps](ALIKE).
    pub(super) fn reverses(&mut self, [absorbed, stored]: [f64; 2], power: f64, h: f64) -> bool {
        let dissipated = absorbed - stored;
        let [before, power_before] = core::mem::replace(&mut self.last, [dissipated, power]);
        let expected = power_before * h;
        let [sum, most, lost] = self.reversed;
        let lost = lost + if before.is_finite() { dissipated - before } else { 0.0 };
        let (sum, most) = (sum + expected, most.max(expected));
        self.reversed = if lost < RESOLVED * sum { [sum, most, lost] } else { [0.0; 3] };
        let [sum, most, _] = self.reversed;
        self.stored > 0.0
            && self.stored.is_finite()
            && sum > ALTERNATING * self.stored.max(stored.abs()) + self.rounding
            && sum > ALIKE * most
    }

    /// Called where parameters, and with them the power, have changed.
    pub(crate) fn forget_power(&mut self) {
        self.last[1] = 0.0;
    }
}

/// The fraction of the largest stored energy above which energy that was returned without having been received
/// indicates that steps are too long. In steps that resolve an impact it is below 1 %.
const GAINED: f64 = 0.5;

/// The fraction of the largest stored energy below which an element has released it. While energy is stored, the work
/// of forces that are held over a step lags behind, by up to half of it in steps that resolve an impact.
const RELEASED: f64 = 0.1;

/// The number of steps in a row that shows that energy was gained. The held force of a damper whose velocity a load
/// reverses returns energy for a step or two, however little the element has stored.
const PERSISTENT: u32 = 4;

/// The fraction of the energy that friction would have lost above which steps resolve friction. Loads that vary at random
/// from step to step reverse half of the steps; under these a damper with `γh` up to 1.2 loses more than this fraction.
const RESOLVED: f64 = 0.15;

/// The multiple of the largest stored energy above which friction alternates, for the energy that it would have lost in
/// reversed steps. In an impact of `n` steps with restitution `e` this energy is about `2 (μ (1 + e))²/n` of the kinetic
/// energy.
const ALTERNATING: f64 = 2.0;

/// The least ratio of the energy that friction would have lost in all reversed steps to the most in one of them. If the
/// velocity alternates about zero, 16 steps reach it; a fading motion whose velocity falls by more than 3 % in each step
/// does not.
const ALIKE: f64 = 16.0;

/// The growth of energy returned without having been received above which a motion explodes. Forces that are held over a
/// step lag behind by less than the stored energy. Beyond the longest stable step an oscillation has returned more than
/// that after every step, and is never relaxed. At a fraction `s` of that step its energy varies by `(1 + s)/(1 − s)`:
/// 2000 times at 0.999.
const EXPLODED: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounding_of_what_a_long_run_has_absorbed_is_no_gain() {
        let rounding = f64::EPSILON * 1e3;
        let mut account = Account { dissipated: 0.0, stored: 0.0, ..Account::CLOSED };
        assert_eq!(account.gain(1e6, 1e-9, 1e6 * rounding), None);
        // A nanojoule is released after a megajoule was lost, of which 1e-8 J are rounding.
        assert_eq!(account.gain(1e6 - 1e-8, 0.0, 1e6 * rounding), None);
        let mut gain = || account.gain(1e6 - 1e-6, 0.0, 1e6 * rounding);
        assert_eq!([gain(), gain(), gain()], [None; 3]);
        assert!(gain().is_some());
    }
}
