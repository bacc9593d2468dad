//! Products with derivatives by variables and of commits, against dense matrices.

use force_elements::coordinate_spring_damper_ext::{self, CoordinateSpringDamperExt};
use force_elements::nalgebra::{DMatrix, DVector, Point3, Vector3, Vector6};
use force_elements::testing::Numbers;
use force_elements::{
    AtDynamics, Blocks, BodyIndex, Column, CoordinatePair, ElementError, ElementId, End, Error,
    ExponentialSpring, ForceAccumulator, ForceElement, ForceSystem, Forces, Frame, LinearBushing,
    Linearization, Pose, Row, Scope, SpatialForce, SpatialVelocity, State, Station, Topology, VariableVector,
    Variation, exponential_spring, linear_bushing, variables,
};

variables! {
    /// The numbers of a control.
    #[derive(Copy)]
    pub struct Tuning<T> {
        /// Force by error.
        pub gain: T ["N/m"] = 7.0, nonnegative => Dynamics;
        /// A flag, by which there are no derivatives.
        pub is_fast: bool => Dynamics;
        /// Rate at which the integral decays.
        pub forgetting: T ["1/s"] = 2.0, nonnegative => Dynamics;
    }
}

variables! {
    /// Where a body was.
    #[derive(Copy)]
    pub struct Before<T> {
        /// At the last commit.
        pub last_height: T ["m"], finite => Dynamics;
    }
}

variables! {
    /// Two integrals.
    #[derive(Copy)]
    pub struct Integrals<T> {
        /// Of the height.
        pub height: T ["m·s"], finite => Dynamics;
        /// Of that.
        pub twice: T ["m·s²"], finite => Dynamics;
    }
}

/// A user's control with memory, two integrals and no derivatives.
#[derive(Debug)]
struct Control(BodyIndex);

impl ForceElement<f64> for Control {
    const KIND: &'static str = "control";
    type Parameters = Tuning<f64>;
    type Discrete = Before<f64>;
    type Continuous = Integrals<f64>;
    type Position = ();
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_body(self.0)?)
    }

    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let error = at.positions.pose(self.0).translation.z + at.discrete.last_height + at.continuous.twice;
        let f_G = Vector3::z() * (-at.parameters.gain * error + at.time);
        forces.apply_to_body(self.0, SpatialForce::new(Vector3::zeros(), f_G));
        forces.apply_to_body(BodyIndex::GROUND, SpatialForce::new(Vector3::zeros(), -f_G));
    }

    fn calc_rates(
        &self,
        at: &AtDynamics<'_, f64, Self>,
        rates: &mut Self::Continuous,
    ) -> Result<(), ElementError> {
        let height = at.positions.pose(self.0).translation.z;
        rates.height = height - at.parameters.forgetting * at.continuous.height;
        rates.twice = at.continuous.height + at.discrete.last_height;
        Ok(())
    }

    fn accept_step(
        &self,
        at: &AtDynamics<'_, f64, Self>,
        next: &mut Self::Discrete,
    ) -> Result<(), ElementError> {
        next.last_height = 0.5 * at.discrete.last_height + at.positions.pose(self.0).translation.z.powi(2);
        Ok(())
    }
}

/// A force by the error of a height, whose element writes all derivatives at the first request.
#[derive(Debug)]
struct AtOnce(BodyIndex);

impl ForceElement<f64> for AtOnce {
    const KIND: &'static str = "at_once";
    type Parameters = Tuning<f64>;
    type Discrete = Before<f64>;
    type Continuous = ();
    type Position = ();
    type Velocity = ();
    type Dynamics = ();

    fn check_topology(&self, topology: &Topology) -> Result<(), ElementError> {
        Ok(topology.check_body(self.0)?)
    }

    fn add_forces(&self, at: &AtDynamics<'_, f64, Self>, forces: &mut ForceAccumulator<'_, f64>) {
        let f_G = Vector3::z() * (-at.parameters.gain * at.discrete.last_height);
        forces.apply_to_body(self.0, SpatialForce::new(Vector3::zeros(), f_G));
    }

    fn linearize(&self, at: &AtDynamics<'_, f64, Self>, blocks: &mut Blocks<'_, f64>) {
        let Scope { variables, commit } = blocks.scope();
        if variables {
            let by = |factor: f64| Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, factor);
            let (gain, last) = (blocks.parameter(0), blocks.discrete(0));
            blocks.add_by_variables(self.0, gain, &[by(-at.discrete.last_height)]);
            blocks.add_by_variables(self.0, last, &[by(-at.parameters.gain)]);
        }
        if commit {
            blocks.add_to_by_variables(Row::Next(0), blocks.discrete(0), &[1.0]);
        }
    }

    fn linearize_variables(&self, _: &AtDynamics<'_, f64, Self>, _: &mut Blocks<'_, f64>) {}

    fn linearize_commit(&self, _: &AtDynamics<'_, f64, Self>, _: &mut Blocks<'_, f64>) {}
}

#[test]
fn an_element_may_write_all_derivatives_at_the_first_request() -> Result<(), Error> {
    let mut system = ForceSystem::new();
    let body = system.add_body();
    let element = system.add(AtOnce(body))?;
    let mut state = system.default_state();
    system.set_discrete(&mut state, element, Before { last_height: 0.5 })?;
    system.realize_dynamics(&mut state)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    system.linearize(&state, &mut linearization)?;
    let change = |name: &str| -> Result<f64, Error> {
        let mut by = VariableVector::zeros(&state);
        *by.number_mut(&state, name)? = 1.0;
        let (still, mut next) = (Variation::zeros(system.topology()), VariableVector::zeros(&state));
        let mut forces = Forces::zeros(system.topology());
        linearization.apply(&still, &still, &mut forces, Some((&by, &mut next)))?;
        Ok(forces.body(body).force.z)
    };
    assert_eq!([change("at_once[0].gain")?, change("at_once[0].last_height")?], [-0.5, -7.0]);
    Ok(())
}

/// Two bodies and a coordinate on elements of every sort, and one that is not enabled.
fn scene() -> Result<(ForceSystem<f64>, State<f64>, ElementId), Error> {
    let mut system = ForceSystem::new();
    let (first, slider, second) = (system.add_body(), system.add_coordinate(), system.add_body());
    let mut numbers = Numbers::new(11);
    for _ in 0..2 {
        let law =
            linear_bushing::Parameters { stiffness: Vector6::repeat(8.0), damping: Vector6::repeat(3.0) };
        let frames = [first, second].map(|body| Frame::on(body, numbers.pose(0.3, 0.5)));
        system.add(LinearBushing::new(frames[0], frames[1], law)?)?;
        system.add(Control(second))?;
    }
    let stations = [first, second, second].map(|body| Station::on(body, Point3::new(0.1, 0.2, -0.02)));
    let mut springs = Vec::new();
    for station in stations {
        let floor = Frame::ground(Pose::identity());
        springs.push(system.add(ExponentialSpring::new(
            floor,
            station,
            exponential_spring::Parameters::default(),
        )?)?);
    }
    let friction = coordinate_spring_damper_ext::Parameters {
        stiffness: 30.0,
        dynamic_friction: 2.0,
        sticking_stiffness: 1e3,
        ..Default::default()
    };
    system.add(CoordinateSpringDamperExt::new(CoordinatePair::on(slider), friction)?)?;
    // A vacant place.
    system.remove(springs[1])?;

    let mut state = system.default_state();
    let V_GB = SpatialVelocity::new(Vector3::new(0.3, 0.2, -0.1), Vector3::new(0.1, -0.2, 0.05));
    state.set_body(first, Pose::translation(0.0, 0.01, 0.02), V_GB)?;
    state.set_body(second, Pose::translation(0.1, 0.0, 0.021), V_GB)?;
    state.set_coordinate(slider, 0.1)?;
    state.set_coordinate_rate(slider, 0.7)?;
    state.set_time(0.25)?;
    system.set_enabled(&mut state, springs[2], false)?;
    system.realize_dynamics(&mut state)?;
    Ok((system, state, springs[2].id()))
}

/// The matrix of all derivatives that are listed as blocks, and of what stays. Rows: forces, time, variables; columns:
/// motion, velocity, time, variables.
fn dense(
    system: &ForceSystem<f64>,
    state: &State<f64>,
    linearization: &Linearization<f64>,
) -> Result<DMatrix<f64>, Error> {
    let size = linearization.size();
    let count = VariableVector::zeros(state).numbers().len();
    let mut matrix = DMatrix::zeros(size + 1 + count, 2 * size + 1 + count);
    matrix.view_mut((size, 2 * size), (1 + count, 1 + count)).fill_with_identity();
    for element in system.elements() {
        let names = state.linearized_variables(element)?;
        let mut places = vec![0];
        for name in names.iter().skip(1) {
            let mut unit = VariableVector::zeros(state);
            *unit.number_mut(state, name)? = 1.0;
            assert_eq!((unit.number(state, name)?, unit.time), (1.0, 0.0));
            places.push(1 + unit.numbers().iter().position(|number| *number == 1.0).expect("written"));
        }
        let counts: [usize; 3] = match (element.kind_name(), state.is_enabled(element)) {
            ("control", _) => [2, 1, 2],
            ("linear_bushing", _) => [36, 3, 0],
            ("exponential_spring", true) => [11, 10, 0],
            ("coordinate_spring_damper_ext", _) => [23, 4, 0],
            _ => [names.len() - 1, 0, 0],
        };
        let [discrete, continuous] = [1 + counts[0], 1 + counts[0] + counts[1]];
        assert_eq!(continuous + counts[2], names.len(), "{element}");
        // What the blocks of an enabled element say replaces what stays.
        for place in &places[discrete..] {
            matrix.row_mut(size + place).fill(0.0);
        }
        for (row, column, numbers) in linearization.element(element).blocks() {
            let rows: Vec<usize> = match row {
                Row::Force(end) => {
                    let Some(first) = linearization.row_of(end) else { continue };
                    (first..first + end.freedoms()).collect()
                }
                Row::Rate(number) => vec![size + places[continuous + number]],
                Row::Next(number) => vec![size + places[discrete + number]],
            };
            let columns: Vec<usize> = match column {
                Column::Motion(end) => {
                    let first = linearization.row_of(end).expect("not Ground");
                    (first..first + end.freedoms())
                        .chain(size + first..size + first + end.freedoms())
                        .collect()
                }
                Column::Variable(variable) => vec![2 * size + places[variable]],
            };
            for (row, numbers) in rows.iter().zip(numbers.chunks_exact(columns.len())) {
                for (column, number) in columns.iter().zip(numbers) {
                    matrix[(*row, *column)] += number;
                }
            }
        }
    }
    Ok(matrix)
}

fn ends(topology: &Topology) -> Vec<End> {
    let bodies = topology.bodies().map(End::Body);
    bodies.chain(topology.coordinates().map(End::Coordinate)).collect()
}

fn write_variation(variation: &mut Variation<f64>, numbers: &[f64]) {
    let mut next = numbers.iter().copied();
    for end in ends(&variation.topology().clone()) {
        match end {
            End::Body(body) => {
                let V = variation.body_mut(body);
                V.angular
                    .iter_mut()
                    .chain(&mut V.linear)
                    .for_each(|slot| *slot = next.next().expect("enough"));
            }
            End::Coordinate(coordinate) => {
                *variation.coordinate_mut(coordinate) = next.next().expect("enough");
            }
        }
    }
}

fn write_variables(vector: &mut VariableVector<f64>, numbers: &[f64]) {
    vector.time = numbers[0];
    vector.numbers_mut().copy_from_slice(&numbers[1..]);
}

fn of_forces(forces: &Forces<f64>) -> Vec<f64> {
    let of = |end| match end {
        End::Body(body) => {
            let F = forces.body(body);
            F.torque.iter().chain(&F.force).copied().collect()
        }
        End::Coordinate(coordinate) => vec![forces.coordinate(coordinate)],
    };
    ends(forces.topology()).into_iter().flat_map(of).collect()
}

fn of_variables(vector: &VariableVector<f64>) -> Vec<f64> {
    [vector.time].iter().chain(vector.numbers()).copied().collect()
}

#[test]
fn products_are_those_of_a_dense_matrix_and_its_transpose() -> Result<(), Error> {
    let (system, state, _) = scene()?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    system.linearize(&state, &mut linearization)?;
    let matrix = dense(&system, &state, &linearization)?;
    let size = linearization.size();
    let sizes = matrix.abs();
    let near = |product: &[f64], expected: DVector<f64>, terms: DVector<f64>| {
        assert_eq!(product.len(), expected.len());
        for (i, product) in product.iter().enumerate() {
            // Sums of up to a hundred terms, in another order.
            let tolerance = 1e-14 * terms[i];
            assert!((product - expected[i]).abs() <= tolerance, "{i}: {product}, not {}", expected[i]);
        }
    };
    let mut random = Numbers::new(3);
    for _ in 0..20 {
        let mut draw = |count: usize| DVector::from_fn(count, |_, _| random.number());
        let (columns, rows) = (draw(matrix.ncols()), draw(matrix.nrows()));

        let [mut motion, mut velocity] = [(); 2].map(|()| Variation::zeros(system.topology()));
        let [mut variables, mut next] = [(); 2].map(|()| VariableVector::zeros(&state));
        write_variation(&mut motion, &columns.as_slice()[..size]);
        write_variation(&mut velocity, &columns.as_slice()[size..2 * size]);
        write_variables(&mut variables, &columns.as_slice()[2 * size..]);
        let mut forces = Forces::zeros(system.topology());
        linearization.apply(&motion, &velocity, &mut forces, Some((&variables, &mut next)))?;
        let product = [of_forces(&forces), of_variables(&next)].concat();
        near(&product, &matrix * &columns, &sizes * columns.abs());

        let mut multipliers = Variation::zeros(system.topology());
        write_variation(&mut multipliers, &rows.as_slice()[..size]);
        write_variables(&mut next, &rows.as_slice()[size..]);
        let mut by_velocity = Forces::zeros(system.topology());
        let (by_position, by_variables) = (&mut forces, &mut variables);
        let both = Some((&next, &mut *by_variables));
        linearization.apply_transpose(&multipliers, by_position, &mut by_velocity, both)?;
        let product = [of_forces(by_position), of_forces(&by_velocity), of_variables(by_variables)].concat();
        near(&product, matrix.tr_mul(&rows), sizes.tr_mul(&rows.abs()));
    }
    Ok(())
}

#[test]
fn every_listed_name_finds_its_place() -> Result<(), Error> {
    let (system, state, _) = scene()?;
    let mut vector = VariableVector::zeros(&state);
    let mut count = 0.0;
    for element in system.elements() {
        for name in state.linearized_variables(element)? {
            count += 1.0;
            *vector.number_mut(&state, &name)? = count;
            // Of a variable that a host reads by the same name.
            state.variable(&name)?;
            assert_eq!(vector.number(&state, &name)?, count, "{name}");
        }
    }
    // No place was left out or written for two names, but that of time, which each element lists.
    let mut numbers = vector.numbers().to_vec();
    numbers.push(vector.time);
    numbers.sort_by(f64::total_cmp);
    assert!(numbers[0] > 0.0 && numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    Ok(())
}

#[test]
fn without_a_commit_memory_stays() -> Result<(), Error> {
    let (system, state, disabled) = scene()?;
    let (none, mut forces) = (Variation::zeros(system.topology()), Forces::zeros(system.topology()));
    let (mut variables, mut next) = (VariableVector::zeros(&state), VariableVector::zeros(&state));
    let control = system.elements().find(|element| element.kind_name() == "control").expect("added");
    let names = [format!("{control}.last_height"), format!("{disabled}.anchor_P.x")];
    for name in &names {
        *variables.number_mut(&state, name)? = 1.0;
    }
    let [of_control, of_disabled] = &names;
    for (commit, expected) in [(false, 1.0), (true, 0.5)] {
        let mut linearization = Linearization::of(Scope { variables: true, commit });
        system.linearize(&state, &mut linearization)?;
        linearization.apply(&none, &none, &mut forces, Some((&variables, &mut next)))?;
        // Differences of a square over 6e-7.
        assert!((next.number(&state, of_control)? - expected).abs() < 1e-9);
        assert_eq!(next.number(&state, of_disabled)?, 1.0);
    }
    Ok(())
}

#[test]
fn continuous_variables_are_in_the_order_of_the_state() -> Result<(), Error> {
    let (_, mut state, _) = scene()?;
    let energies = state.absorbed_energy().len();
    let mut values = state.continuous().to_vec();
    values[energies..].copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
    state.set_continuous(&values)?;
    let mut vector = VariableVector::zeros(&state);
    let places: Vec<usize> = vector.continuous_places().collect();
    for (place, value) in places.iter().zip(&values[energies..]) {
        vector.numbers_mut()[*place] = *value;
    }
    for (control, value) in [(0, 2.0), (1, 4.0)] {
        assert_eq!(state.variable(&format!("control[{control}].twice"))?, value);
    }
    assert_eq!(places.len(), 4);
    assert_eq!(vector.number(&state, "control[1].twice"), Ok(4.0));
    assert_eq!(vector.numbers().iter().sum::<f64>(), 10.0);
    vector.set_zero();
    assert_eq!(vector, VariableVector::zeros(&state));
    Ok(())
}

#[test]
fn vacant_places_have_no_numbers() -> Result<(), Error> {
    let (mut system, mut state, _) = scene()?;
    let controls: Vec<_> = system.elements().filter(|element| element.kind_name() == "control").collect();
    let [first, second] = controls[..] else { panic!("two were added") };
    system.remove(first)?;
    system.carry_over(&mut state)?;
    let mut vector = VariableVector::zeros(&state);
    let energies = state.absorbed_energy().len();
    let places: Vec<usize> = vector.continuous_places().collect();
    assert_eq!(places.len(), state.continuous().len() - energies);
    places.into_iter().zip([5.0, 6.0]).for_each(|(place, value)| vector.numbers_mut()[place] = value);
    assert_eq!(vector.number(&state, &format!("{second}.twice"))?, 6.0);
    Ok(())
}

#[test]
fn a_vector_from_before_the_system_changed_is_refused() -> Result<(), Error> {
    let (mut system, mut state, spring) = scene()?;
    let name = format!("{spring}.mu_kinetic");
    let mut before = VariableVector::zeros(&state);
    assert_eq!(before.number(&state, &name), Ok(0.0));
    system.add_body();
    system.carry_over(&mut state)?;
    assert_eq!(before.number(&state, &name), Err(Error::TopologyMismatch));
    assert_eq!(before.number_mut(&state, &name), Err(Error::TopologyMismatch));
    let mut vector = VariableVector::zeros(&state);
    *vector.number_mut(&state, &name)? = 3.0;
    assert_eq!(vector.number(&state, &name), Ok(3.0));
    Ok(())
}

#[test]
fn multipliers_of_ground_are_those_of_its_force() -> Result<(), Error> {
    let (system, state, _) = scene()?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    system.linearize(&state, &mut linearization)?;
    let mut random = Numbers::new(5);
    let [mut motion, mut velocity, mut multipliers] = [(); 3].map(|()| Variation::zeros(system.topology()));
    for body in system.topology().bodies() {
        *motion.body_mut(body) = random.velocity(1.0);
        *velocity.body_mut(body) = random.velocity(1.0);
    }
    // What is written to Ground as a motion is not read.
    *motion.body_mut(BodyIndex::GROUND) = random.velocity(1.0);
    *multipliers.body_mut(BodyIndex::GROUND) = random.velocity(1.0);
    let [mut forces, mut by_position, mut by_velocity] = [(); 3].map(|()| Forces::zeros(system.topology()));
    linearization.apply(&motion, &velocity, &mut forces, None)?;
    let power = multipliers.body(BodyIndex::GROUND).power(forces.body(BodyIndex::GROUND));
    let (none, mut sums) = (VariableVector::zeros(&state), VariableVector::zeros(&state));
    for with_variables in [false, true] {
        let variables = with_variables.then_some((&none, &mut sums));
        linearization.apply_transpose(&multipliers, &mut by_position, &mut by_velocity, variables)?;
        let felt = system.topology().bodies().filter(|body| *body != BodyIndex::GROUND).map(|body| {
            motion.body(body).power(by_position.body(body))
                + velocity.body(body).power(by_velocity.body(body))
        });
        let felt: f64 = felt.sum();
        assert!(power.abs() > 1.0 && (felt - power).abs() < 1e-12 * power.abs(), "{felt}, not {power}");
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() -> Result<(), Error> {
    let (mut system, state, spring) = scene()?;
    let (none, mut forces) = (Variation::zeros(system.topology()), Forces::zeros(system.topology()));
    let (mut variables, mut next) = (VariableVector::zeros(&state), VariableVector::zeros(&state));
    let mut linearization = Linearization::of(Scope { variables: false, commit: true });
    system.linearize(&state, &mut linearization)?;
    let refused = linearization.apply(&none, &none, &mut forces, Some((&variables, &mut next)));
    assert_eq!(refused, Err(Error::NoVariables));

    for name in ["stiffness", "enabled", "last_station.known", "settling"] {
        let name = format!("exponential_spring[2].{name}");
        assert_eq!(next.number(&state, &name), Err(Error::NoSuchVariable { name }));
    }

    system.add_body();
    let mut other = system.default_state();
    assert_eq!(next.number(&other, &format!("{spring}.mu_kinetic")), Err(Error::TopologyMismatch));
    system.realize_dynamics(&mut other)?;
    let mut linearization = Linearization::of(Scope { variables: true, commit: true });
    system.linearize(&other, &mut linearization)?;
    let (none, mut forces) = (Variation::zeros(system.topology()), Forces::zeros(system.topology()));
    let mut others = forces.clone();
    let refused = linearization.apply(&none, &none, &mut forces, Some((&variables, &mut next)));
    assert_eq!(refused, Err(Error::TopologyMismatch));
    let both = Some((&next, &mut variables));
    let refused = linearization.apply_transpose(&none, &mut forces, &mut others, both);
    assert_eq!(refused, Err(Error::TopologyMismatch));
    Ok(())
}
