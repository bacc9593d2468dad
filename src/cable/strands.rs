//! The strands of a cable with friction: lengths, shares of material, forces and memory.

use alloc::vec::Vec;
use core::ops::Range;

use nalgebra::{Point3, Vector3};

use super::grip::{Grip, Grips};
use super::path::CablePath;
use super::results::PathResults;
use super::slip::{Joint, settle};
use crate::math::Real;
use crate::mechanics::{BodyIndex, ForceAccumulator, Positions, Velocities};

/// The part of a cable between two neighbouring marks, ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strand<T: Real> {
    /// The body at its start.
    pub from_body: BodyIndex,
    /// The body at its end.
    pub to_body: BodyIndex,
    /// Where it last left the body at its start, in Ground \[m\].
    pub from_G: Point3<T>,
    /// Where it last met the body at its end, in Ground \[m\].
    pub to_G: Point3<T>,
    /// The unit direction from one to the other, in Ground; zero if they coincide, where a contact begins or ends at an
    /// end of the cable.
    pub direction_G: Vector3<T>,
    /// The length from mark to mark \[m\].
    pub length: T,
    /// Its share of the cable's material.
    pub share: T,
    /// Its share at the last commit.
    pub committed_share: T,
    /// The elongation of a whole cable that is strained like it, zero while slack \[m\].
    pub elongation: T,
}

/// The strands of a cable with capstan friction, in order.
///
/// A cable of slack length `L₀` is divided by marks on the surfaces that it touches. Strand `k` has the length
/// `L_k` and the share `φ_k` of the material; a whole cable strained like it would be longer than its slack
/// length by `x_k = L_k/φ_k − L₀`. See [`CapstanCable`](crate::CapstanCable) for the law.
#[derive(Debug)]
pub struct Strands<T: Real> {
    /// In order; a single one without memory.
    pub all: Vec<Strand<T>>,
    joints: Vec<Joint<T>>,
}

impl<T: Real> Default for Strands<T> {
    fn default() -> Self {
        Self { all: Vec::new(), joints: Vec::new() }
    }
}

impl<T: Real> Clone for Strands<T> {
    fn clone(&self) -> Self {
        Self { all: self.all.clone(), joints: self.joints.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.all.clone_from(&source.all);
        self.joints.clone_from(&source.joints);
    }
}

impl<T: Real> CablePath<T> {
    /// The empty memory of friction before the first solution.
    pub fn no_grips(&self) -> Grips<T> {
        let count = self.obstacles.len() + self.via_points.len();
        Grips { places: alloc::vec![Grip::default(); count] }
    }

    /// The obstacles and via points in order: the body, and which of them it is.
    fn holds(&self) -> impl Iterator<Item = (BodyIndex, Hold)> + '_ {
        let over = |k: usize| (self.obstacles[k].frame().body, Hold::Obstacle(k));
        let mut passed = 0;
        let up_to_last = self.via_points.iter().enumerate().flat_map(move |(i, (via_point, before))| {
            let obstacles = core::mem::replace(&mut passed, *before)..*before;
            obstacles.map(over).chain([(via_point.station().body, Hold::ViaPoint(i))])
        });
        let passed = self.via_points.last().map_or(0, |(_, before)| *before);
        up_to_last.chain((passed..self.obstacles.len()).map(over))
    }
}

/// What may hold a cable on its way.
#[derive(Clone, Copy)]
enum Hold {
    Obstacle(usize),
    ViaPoint(usize),
}

impl Hold {
    /// Whether the cable touches it.
    fn is_touched<T: Real>(self, results: &PathResults<T>) -> bool {
        match self {
            Self::Obstacle(k) => results.contacts.get(k).is_some_and(|contact| contact.in_contact),
            Self::ViaPoint(i) => results.via_points.get(i).is_some_and(Option::is_some),
        }
    }

    fn obstacle(self) -> Option<usize> {
        match self {
            Self::Obstacle(k) => Some(k),
            Self::ViaPoint(_) => None,
        }
    }
}

impl<T: Real> Strands<T> {
    /// Finds lengths, shares and elongations on a solved path, with the coefficient of friction of each
    /// obstacle; missing ones are zero.
    ///
    /// A pure function of its arguments; the previous content has no effect.
    pub fn solve(
        &mut self,
        path: &CablePath<T>,
        results: &PathResults<T>,
        positions: &Positions<T>,
        grips: &Grips<T>,
        friction: &[T],
        slack_length: T,
    ) {
        self.all.clear();
        self.joints.clear();
        self.all.reserve(grips.places.len() + 1);
        self.joints.reserve(grips.places.len());
        let on_body = |body, p_B: &Point3<T>| positions.pose(body) * p_B;
        let (Some(first), Some(last)) = (results.segments.first(), results.segments.last()) else { return };
        let mut from = (first.from_body, first.from_G);
        let mut rest = T::zero();
        let mut share_before = T::zero();
        let mut total = T::zero();
        let mut add = |from: (BodyIndex, Point3<T>), to: (BodyIndex, Point3<T>), on_surfaces, share| {
            let along: Vector3<T> = to.1 - from.1;
            // An end on a surface that the cable follows at once leaves no straight part, and no direction.
            let least = (from.1.coords.amax() + to.1.coords.amax()) * T::default_epsilon() * T::lit(16.0);
            let (reach, direction_G) = if along.norm_squared() > least * least {
                (along.norm(), along / along.norm())
            } else {
                (T::zero(), Vector3::zeros())
            };
            let length = reach + on_surfaces;
            total += length;
            self.all.push(Strand {
                from_body: from.0,
                to_body: to.0,
                from_G: from.1,
                to_G: to.1,
                direction_G,
                length,
                share,
                committed_share: share,
                elongation: T::zero(),
            });
        };
        for (grip, (body, hold)) in grips.places.iter().zip(path.holds()) {
            if !grip.in_contact {
                continue;
            }
            let start_G = on_body(body, &grip.start);
            add(from, (body, start_G), rest + grip.before, grip.share - share_before);
            let limit = hold.obstacle().map_or(T::zero(), |k| turning_limit(path, results, k, friction));
            self.joints.push(Joint::new(limit.exp(), grip.share));
            from = (body, on_body(body, &grip.end));
            rest = grip.after;
            share_before = grip.share;
        }
        add(from, (last.to_body, last.to_G), rest, T::one() - share_before);

        // What the remembered chords do not see of the path's length is common to all.
        let unseen = results.length - total;
        if let [only] = &mut self.all[..] {
            only.length = results.length;
        } else {
            // A leap far from the last commit must not leave a strand without length.
            let least = T::lit(1e-6) * results.length;
            for strand in &mut self.all {
                let length = strand.length + strand.share * unseen;
                strand.length = length.max(least * strand.share);
            }
        }
        settle(&mut self.all, &mut self.joints, slack_length);
    }

    /// Half the sum of `φ_k x_k²`: the energy stored at a stiffness of 1 N/m \[m²\].
    pub fn unit_energy(&self) -> T {
        let twice = self
            .all
            .iter()
            .fold(T::zero(), |sum, strand| sum + strand.share * strand.elongation * strand.elongation);
        T::lit(0.5) * twice
    }

    /// Writes the rates of change of the strands' lengths \[m/s\], given that of the path's length.
    pub fn length_rates(
        &self,
        length_rate: T,
        positions: &Positions<T>,
        velocities: &Velocities<T>,
        rates: &mut Vec<T>,
    ) {
        rates.clear();
        if self.joints.is_empty() {
            rates.push(length_rate);
            return;
        }
        rates.reserve(self.all.len());
        rates.extend(self.all.iter().map(|strand| {
            let velocity = |body, p| velocities.velocity_of_point(positions, body, p);
            let relative =
                velocity(strand.to_body, &strand.to_G) - velocity(strand.from_body, &strand.from_G);
            strand.direction_G.dot(&relative)
        }));
        let seen = rates.iter().fold(T::zero(), |sum, &rate| sum + rate);
        for (rate, strand) in rates.iter_mut().zip(&self.all) {
            *rate += strand.committed_share * (length_rate - seen);
        }
    }

    /// Writes the tension in each strand \[N\], damping included; returns the power that damping dissipates
    /// \[W\].
    pub fn tensions(&self, stiffness: T, dissipation: T, rates: &[T], tensions: &mut Vec<T>) -> T {
        let one = T::one();
        let rise = |part: Range<usize>| {
            let (mut power, mut weight) = (T::zero(), T::zero());
            for (strand, &rate) in self.all.iter().zip(rates).take(part.end).skip(part.start) {
                power += strand.elongation * rate;
                weight += strand.elongation * strand.share;
            }
            // The rate of a single strand, which is the whole cable, must be itself to the last bit.
            let mean = match rates {
                [only] => *only,
                _ if weight > T::zero() => power / weight,
                _ => T::zero(),
            };
            (dissipation * mean).max(-one)
        };
        let common = rise(0..self.all.len());
        tensions.clear();
        tensions.reserve(self.all.len());
        for group in self.groups() {
            let own = rise(group.clone());
            tensions.extend(group.map(|_| own - common));
        }
        // As much of the differences as no contact that sticks gives way to.
        let mut weight = one;
        for (i, joint) in self.joints.iter().enumerate().filter(|(_, joint)| !joint.slips()) {
            for (a, b) in [(i, i + 1), (i + 1, i)] {
                let excess = |weight: T| {
                    let tension = |k: usize| self.all[k].elongation * (one + common + weight * tensions[k]);
                    tension(a) - joint.ratio * tension(b)
                };
                let most = excess(one);
                if most > T::zero() {
                    let none = excess(T::zero()).min(T::zero());
                    weight = weight.min(none / (none - most));
                }
            }
        }
        let mut lost = T::zero();
        for ((tension, strand), &rate) in tensions.iter_mut().zip(&self.all).zip(rates) {
            let rise = common + weight * *tension;
            let elastic = stiffness * strand.elongation;
            let damping = elastic * rise;
            *tension = elastic + damping;
            lost += damping * rate;
        }
        lost
    }

    /// The strands between neighbouring contacts that stick.
    fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut first = 0;
        (0..self.all.len()).filter_map(move |last| {
            let ends = self.joints.get(last).is_none_or(|joint| !joint.slips());
            ends.then(|| core::mem::replace(&mut first, last + 1)..last + 1)
        })
    }

    /// Adds the forces of a cable with these tensions in its strands \[N\].
    ///
    /// The mean tension acts along the present path; the departures from it along the straight parts of the
    /// path at the last commit, moved with the bodies.
    ///
    /// # Panics
    /// If `forces` lack a body, like slice indexing; those of the solution's system do not.
    pub fn add_forces(&self, results: &PathResults<T>, tensions: &[T], forces: &mut ForceAccumulator<'_, T>) {
        if let [tension] = tensions {
            results.add_forces(*tension, forces);
            return;
        }
        let strands = || self.all.iter().zip(tensions);
        let mean = strands().fold(T::zero(), |sum, (strand, &f)| sum + strand.committed_share * f);
        results.add_forces(mean, forces);
        for (strand, &tension) in strands() {
            let pull = strand.direction_G * (tension - mean);
            forces.apply_at_point(strand.from_body, &strand.from_G, pull);
            forces.apply_at_point(strand.to_body, &strand.to_G, -pull);
        }
    }

    /// Writes into `grips` the memory for an accepted step.
    ///
    /// A mark stays on its place of the surface as long as that is within the contact arc, and otherwise moves
    /// to the end of the arc; material that passes it keeps its strain. A new contact gets its mark in the
    /// middle.
    pub fn remember(
        &self,
        path: &CablePath<T>,
        results: &PathResults<T>,
        positions: &Positions<T>,
        grips: &mut Grips<T>,
    ) {
        let mut segments = results.segments.iter();
        let mut strands = self.all.iter();
        // Length and share at the last mark passed, and the length of the path at the last contact passed.
        let (mut length, mut share) = (T::zero(), T::zero());
        let mut reach = T::zero();
        let mut arriving = segments.next();
        for ((body, hold), grip) in path.holds().zip(&mut grips.places) {
            let mark = if grip.in_contact {
                let Some(strand) = strands.next() else { continue };
                length += strand.length;
                share += strand.share;
                Some((length, share))
            } else {
                None
            };
            let contact = hold.obstacle().and_then(|k| results.contacts.get(k));
            let next = if hold.is_touched(results) { segments.next() } else { None };
            let (Some(before), Some(after)) = (arriving, next) else {
                *grip = Grip::default();
                continue;
            };
            let arc = contact.map_or(T::zero(), |contact| contact.geodesic.length.max(T::zero()));
            let start = reach + before.length;
            let end = start + arc;
            let (mark, share) = match mark {
                Some((at, share)) if start <= at && at <= end => (at, share),
                Some((at, _)) => self.share_at(at.max(start).min(end)),
                None => self.share_at(start + T::lit(0.5) * arc),
            };
            let X_BG = positions.pose(body).inverse();
            *grip = Grip {
                in_contact: true,
                start: X_BG * before.to_G,
                end: X_BG * after.from_G,
                before: mark - start,
                after: end - mark,
                share,
            };
            reach = end;
            arriving = Some(after);
        }
    }

    /// A length along the cable, with the share of material before it.
    fn share_at(&self, at: T) -> (T, T) {
        let (mut length, mut share) = (T::zero(), T::zero());
        let mut found = T::zero();
        for strand in &self.all {
            // The last strand that begins before it.
            if length <= at {
                found = share + strand.share * ((at - length) / strand.length).min(T::one());
            }
            length += strand.length;
            share += strand.share;
        }
        (at, found)
    }
}

/// The exponent of the capstan equation: friction times turning.
fn turning_limit<T: Real>(path: &CablePath<T>, results: &PathResults<T>, k: usize, friction: &[T]) -> T {
    let mu = friction.get(k).copied().unwrap_or_else(T::zero);
    if mu <= T::zero() {
        return T::zero();
    }
    let accuracy = path.settings().smoothness * T::lit(0.01);
    let (Some(contact), Some(obstacle)) = (results.contacts.get(k), path.obstacles().get(k)) else {
        return T::zero();
    };
    mu * contact.turning(obstacle.surface(), accuracy).max(T::zero())
}
