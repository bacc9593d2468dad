//! The blocks of a force between two frames by the motion of their bodies.

use nalgebra::{Matrix3, Vector3};

use super::{Between, Quarters, Slopes};
use crate::framework::linearize::blocks::{Blocks, Column, Row};
use crate::framework::linearize::ends::End;
use crate::math::{Real, SpatialForce, cross_cross, have_same_bits, times_cross};
use crate::mechanics::BodyIndex;

/// Six rows, of torque and force, by a rotation and a translation of one body, and by its angular and linear velocity.
type Rows<T> = [[T; 12]; 6];

/// The motion of M and of the bodies.
struct Sides<'a, T: Real> {
    between: &'a Between<T>,
    /// From the origins of A and B to M.
    r: [Vector3<T>; 2],
    /// The angular velocities of A and B.
    w: [Vector3<T>; 2],
}

impl<T: Real> Blocks<'_, T> {
    /// Adds all blocks of a force between two bodies.
    pub fn add_between(&mut self, between: &Between<T>) {
        let [a, b] = between.bodies;
        let r = |body| between.p_GM.coords - self.pose(body).translation.vector;
        let w = |body| self.velocity(body).angular;
        let sides = Sides { between, r: [r(a), r(b)], w: [w(a), w(b)] };

        let on = [b, a].map(|body| Row::Force(End::Body(body)));
        let [by_a, by_b] =
            [a, b].map(|body| (body != BodyIndex::GROUND).then_some(Column::Motion(End::Body(body))));
        let (numbers, sum) = self.derivatives.push_summed(on, by_b.into_iter().chain(by_a), 72);
        let (rows, _) = numbers.as_chunks_mut::<12>();
        let (blocks, _) = rows.as_chunks_mut::<6>();
        let (by_a, by_b) = match blocks {
            [bb, ab, ba, aa] => (Some([ba, aa]), Some([bb, ab])),
            [bb, ab] if by_b.is_some() => (None, Some([bb, ab])),
            [ba, aa] => (Some([ba, aa]), None),
            _ => return,
        };
        match (&between.by_position, &between.by_velocity) {
            (Slopes::Separate { torque: k, force: l }, Slopes::Separate { torque: d, force: e }) => {
                if let Some(blocks) = by_b {
                    let rows = sides.separate_by_b([k, l], [d, e]);
                    sides.at_origins::<true, false>(blocks, sum, |_, j| column(&rows, j));
                }
                if let Some(blocks) = by_a {
                    let rows = sides.separate_by_a([k, l], [d, e]);
                    sides.at_origins::<false, false>(blocks, sum, |_, j| column(&rows, j));
                }
            }
            (Slopes::Coupled(k), Slopes::Coupled(d)) if sides.are_about_b() => {
                sides.write_coupled::<true>(k, d, [by_a, by_b], sum);
            }
            (k, d) => sides.write_coupled::<false>(&k.quarters(), &d.quarters(), [by_a, by_b], sum),
        }
    }
}

impl<T: Real> Sides<'_, T> {
    /// Whether M is at the origin of B; `false` for dual numbers, whose derivatives are not compared.
    #[inline]
    fn are_about_b(&self) -> bool {
        self.r[1].iter().all(|&x| have_same_bits(x, T::zero()))
    }

    /// Writes all blocks of a force between two bodies.
    #[inline]
    fn write_coupled<const ABOUT_B: bool>(
        &self,
        k: &Quarters<T>,
        d: &Quarters<T>,
        [mut by_a, mut by_b]: [Option<[&mut Rows<T>; 2]>; 2],
        sum: &mut T,
    ) {
        // About M, in place: rows elsewhere would first be filled with zeros.
        let [of_a, of_b] = [&mut by_a, &mut by_b].map(|blocks| blocks.as_mut().map(|[on_b, _]| &mut **on_b));
        self.coupled::<ABOUT_B>(k, d, of_a, of_b);
        if let Some(blocks) = by_b {
            self.at_origins::<true, ABOUT_B>(blocks, sum, column);
        }
        if let Some(blocks) = by_a {
            self.at_origins::<false, ABOUT_B>(blocks, sum, column);
        }
    }

    /// Writes the blocks by the motion of one body: derivatives about the origins, from torque and force about M in each
    /// column, which may be stored in the first block.
    #[inline]
    fn at_origins<const BY_B: bool, const ABOUT_B: bool>(
        &self,
        [on_b, on_a]: [&mut Rows<T>; 2],
        sum: &mut T,
        about_m: impl Fn(&Rows<T>, usize) -> [[T; 3]; 2],
    ) {
        let [r_A, r_B] = &self.r;
        // The relative motion by A is the opposite of that of A, and so is the force on A.
        let signed = |x: T, is_opposite: bool| if is_opposite { -x } else { x };
        let [ax, ay, az, au, av, aw] = on_a;
        let mut sums = [T::zero(); 12];
        for j in 0..12 {
            let [t, f] = about_m(on_b, j);
            let [bx, by, bz, bu, bv, bw] = &mut *on_b;
            let t_a = at_origin(t, f, r_A);
            // Each number of the force and of the torque about M is in one of these sums, which is not finite if the
            // number is not.
            sums[j] = t_a[0] + t_a[1] + t_a[2];
            let t_b = if ABOUT_B {
                t
            } else {
                let t_b = at_origin(t, f, r_B);
                sums[j] += t_b[0] + t_b[1] + t_b[2];
                t_b
            };
            [bx[j], by[j], bz[j]] = t_b.map(|x| signed(x, !BY_B));
            [bu[j], bv[j], bw[j]] = f.map(|x| signed(x, !BY_B));
            [ax[j], ay[j], az[j]] = t_a.map(|x| signed(x, BY_B));
            [au[j], av[j], aw[j]] = f.map(|x| signed(x, BY_B));
        }
        // A translation moves the force on A along its lever.
        let F = self.between.F_GM.force;
        let F = if BY_B { F } else { -F }.cross_matrix();
        for (i, row) in [ax, ay, az].into_iter().enumerate() {
            for j in 0..3 {
                row[3 + j] += F[(i, j)];
                sums[3 * i + j] += row[3 + j];
            }
        }
        // Added as a tree, since each addition in a single sum would wait for the previous one.
        (0..6).for_each(|j| sums[j] += sums[j + 6]);
        *sum += (sums[0] + sums[1]) + (sums[2] + sums[3]) + (sums[4] + sums[5]);
    }

    /// The derivatives about M by the opposite of the motion of A.
    #[inline]
    fn separate_by_a(&self, [k, l]: [&Matrix3<T>; 2], [d, e]: [&Matrix3<T>; 2]) -> Rows<T> {
        let Self { between: Between { F_GM: SpatialForce { torque, force }, V_M, .. }, r: [r, _], w } = self;
        let mut rows = [[T::zero(); 12]; 6];
        put(&(k - times_cross(d, &V_M.angular) + torque.cross_matrix()), &mut rows, 0, 0);
        put(d, &mut rows, 0, 6);
        let by_turn = force.cross_matrix() - times_cross(l, r) - times_cross(e, &V_M.linear);
        put(&by_turn, &mut rows, 3, 0);
        put(&(l - times_cross(e, &w[0])), &mut rows, 3, 3);
        put(&-times_cross(e, r), &mut rows, 3, 6);
        put(e, &mut rows, 3, 9);
        rows
    }

    /// The derivatives about M by the motion of B.
    #[inline]
    fn separate_by_b(&self, [k, l]: [&Matrix3<T>; 2], [d, e]: [&Matrix3<T>; 2]) -> Rows<T> {
        let Self { between: Between { F_GM: SpatialForce { force, .. }, .. }, r: [_, r], w } = self;
        let mut rows = [[T::zero(); 12]; 6];
        put(&(k + cross_cross(force, r)), &mut rows, 0, 0);
        put(d, &mut rows, 0, 6);
        let by_lever = l + times_cross(e, &(w[1] - w[0]));
        put(&-times_cross(&by_lever, r), &mut rows, 3, 0);
        put(&(l - times_cross(e, &w[0])), &mut rows, 3, 3);
        put(&-times_cross(e, r), &mut rows, 3, 6);
        put(e, &mut rows, 3, 9);
        rows
    }

    /// Does as [`separate_by_a`](Self::separate_by_a) and [`separate_by_b`](Self::separate_by_b), with all quarters.
    #[inline]
    fn coupled<const ABOUT_B: bool>(
        &self,
        [k_t, k_f]: &Quarters<T>,
        [d_t, d_f]: &Quarters<T>,
        mut by_a: Option<&mut Rows<T>>,
        mut by_b: Option<&mut Rows<T>>,
    ) {
        let Self { between: Between { F_GM: SpatialForce { torque, force }, V_M, .. }, r: [r_A, r_B], w } =
            self;
        let w_AB = w[1] - w[0];
        let mut half =
            |first, [k, l]: &[Matrix3<T>; 2], [d, e]: &[Matrix3<T>; 2], carried: [&Matrix3<T>; 2]| {
                // A translation of M changes its velocity relative to A, which rotates.
                let by_shift = l - times_cross(e, &w[0]);
                if let Some(rows) = &mut by_a {
                    // The lever and the velocities rotate with the observer, who sees them rotate backwards.
                    let spun = times_cross(d, &V_M.angular) + times_cross(e, &V_M.linear);
                    put(&(k - times_cross(l, r_A) - spun + carried[0]), rows, first, 0);
                    put(&by_shift, rows, first, 3);
                    put(&(d - times_cross(e, r_A)), rows, first, 6);
                    put(e, rows, first, 9);
                }
                if let Some(rows) = &mut by_b {
                    let (mut by_turn, mut by_turning) = (*k, *d);
                    if !ABOUT_B {
                        // A rotation of B moves M, and rotates the part of its velocity that is due to the lever.
                        by_turn += carried[1] - times_cross(&(l + times_cross(e, &w_AB)), r_B);
                        by_turning -= times_cross(e, r_B);
                    }
                    put(&by_turn, rows, first, 0);
                    put(&by_shift, rows, first, 3);
                    put(&by_turning, rows, first, 6);
                    put(e, rows, first, 9);
                }
            };
        // The observer carries torque and force with it, and B carries their point of application.
        half(0, k_t, d_t, [&torque.cross_matrix(), &cross_cross(force, r_B)]);
        half(3, k_f, d_f, [&force.cross_matrix(), &Matrix3::zeros()]);
    }
}

/// Torque and force in one column.
#[inline]
fn column<T: Real>([tx, ty, tz, fx, fy, fz]: &Rows<T>, j: usize) -> [[T; 3]; 2] {
    [[tx[j], ty[j], tz[j]], [fx[j], fy[j], fz[j]]]
}

/// Converts a torque about M to one about an origin; `r` is the vector from the origin to M.
#[inline]
fn at_origin<T: Real>(t: [T; 3], f: [T; 3], r: &Vector3<T>) -> [T; 3] {
    [t[0] + (r.y * f[2] - r.z * f[1]), t[1] + (r.z * f[0] - r.x * f[2]), t[2] + (r.x * f[1] - r.y * f[0])]
}

/// Writes three rows and columns.
#[inline]
fn put<T: Real>(part: &Matrix3<T>, rows: &mut Rows<T>, row: usize, column: usize) {
    for i in 0..3 {
        for j in 0..3 {
            rows[row + i][column + j] = part[(i, j)];
        }
    }
}
