//! Variables of a state by name, and snapshots of all of them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Arguments;

use crate::framework::Error;
use crate::framework::continuous::finite_energy;
use crate::framework::element_variables::{find_number, for_parts, is_same_number};
use crate::framework::handle::ElementId;
use crate::framework::slots::Group;
use crate::framework::stage::Stage;
use crate::framework::state::State;
use crate::framework::variables::{Declared, Entry, Slot, Value, Visitor};
use crate::math::Real;
use crate::mechanics::{Quantity, finite};

/// The name of the variable for the energy an element has absorbed.
pub(crate) const ABSORBED_ENERGY: &str = "absorbed_energy";
/// The name of the flag for an open energy account.
pub(crate) const ACCOUNT_OPEN: &str = "account_open";

/// A checksum of words in little-endian bytes: of four chains, each over every fourth word, and of the remaining words.
///
/// Each word changes its chain by a bijection, so a change of a single word is always detected. The shift carries the
/// upper bits, which a multiplication does not move down, into the others. There are four chains because a multiplication
/// waits for the previous one in its chain.
fn checksum(bytes: &[u8]) -> u64 {
    let link = |sum: u64, word: u64| {
        let mixed = sum ^ word;
        (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    };
    let (words, _) = bytes.as_chunks::<8>();
    let (fours, rest) = words.as_chunks::<4>();
    let mut chains = [1, 2, 3, 4];
    for four in fours {
        for (chain, word) in chains.iter_mut().zip(four) {
            *chain = link(*chain, u64::from_le_bytes(*word));
        }
    }
    let rest = rest.iter().map(|&word| u64::from_le_bytes(word));
    rest.chain(chains).fold(words.len() as u64, link)
}

/// A hash of a name: Fowler, Noll and Vo's, variant 1a.
pub(crate) fn hash_of(name: Arguments<'_>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    // Hashing never fails.
    let _ = for_parts(name, |part| {
        hash = part.bytes().fold(hash, |hash, byte| chain(hash, u64::from(byte)));
        Ok(())
    });
    hash
}

/// The hash of a sequence, from the hash of its beginning and that of its next part.
pub(crate) fn chain(hash: u64, next: u64) -> u64 {
    (hash ^ next).wrapping_mul(0x0100_0000_01b3)
}

/// Splits `kind[place].field`, whatever the kind.
pub(crate) fn split_address(name: &str) -> Option<(&str, usize, &str)> {
    let (kind, rest) = name.split_once('[')?;
    let (digits, field) = rest.split_once("].")?;
    // Canonical numbers only: no sign, no leading zeros.
    let is_spelled_out =
        digits.bytes().all(|c| c.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    let place = digits.parse().ok().filter(|_| is_spelled_out)?;
    Some((kind, place, field))
}

impl<T: Real> State<T> {
    /// The names of all variables, in the order in which [`snapshot`](Self::snapshot) lists them.
    pub fn variable_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.visit_variables(&mut |entry| names.push(entry.name.to_string()));
        names
    }

    /// The variable of this name, such as `exponential_spring[3].anchor_P.x`, or `left heel.anchor_P.x` of an element
    /// [added with a name](crate::ForceSystem::add_named).
    ///
    /// # Errors
    /// [`Error::NoSuchVariable`] if there is no such variable.
    pub fn variable(&self, name: &str) -> Result<T, Error> {
        let no_such = || Error::NoSuchVariable { name: name.to_string() };
        if name == "time" {
            return Ok(self.time());
        }
        let (id, field) = self.find(name).ok_or_else(no_such)?;
        let slot = self.slot(id)?;
        match field {
            ABSORBED_ENERGY => Ok(self.continuous.values[slot]),
            ACCOUNT_OPEN => Ok(Value::Flag(self.continuous.accounts[slot].is_open).number()),
            _ => {
                let slots = &self.kinds[id.kind()];
                let found = find_number(field, |visit| slots.visit(id.place(), Group::Variables, visit));
                found.map(|(_, number)| number).ok_or_else(no_such)
            }
        }
    }

    /// Parses `kind[place].field`, or `name.field` with the name given to an element.
    pub(crate) fn find<'n>(&self, name: &'n str) -> Option<(ElementId, &'n str)> {
        let at_place = split_address(name).and_then(|(kind_name, place, field)| {
            let slots = self.kinds.iter().find(|slots| slots.roster().kind == kind_name)?;
            Some((slots.roster().id(place)?, field))
        });
        at_place.or_else(|| {
            // At most one of these prefixes is a name.
            let mut parts = name.match_indices('.').map(|(dot, _)| (&name[..dot], &name[dot + 1..]));
            parts.find_map(|(given, field)| Some((self.named(given)?, field)))
        })
    }

    /// The element with this name.
    fn named(&self, name: &str) -> Option<ElementId> {
        self.kinds.iter().find_map(|slots| slots.roster().id(slots.roster().places.find(name)?.0))
    }

    /// All variables with their names and values, in an order that is always the same for one system; after restoring
    /// them, a simulation continues bit-identically. The snapshot includes time but no other kinematics, which belong to
    /// the host.
    pub fn snapshot(&self) -> Vec<(String, T)> {
        let mut all = Vec::new();
        self.visit_variables(&mut |entry| all.push((entry.name.to_string(), entry.value.number())));
        all
    }

    /// Restores all variables from a snapshot of this or an equal system; drops the state below Instance stage.
    ///
    /// The energy accounts are among the variables, and are restored as they are. If other variables of a snapshot have
    /// been edited, the change of their stored energy therefore appears as dissipated;
    /// [`set_variable`](crate::ForceSystem::set_variable) counts it as supplied.
    ///
    /// # Errors
    /// [`Error::SnapshotMismatch`] if the names are not those of this state; [`Error::Element`] if a variable of an
    /// element is out of range; [`Error::NotAFlag`] if a flag is neither 0 nor 1; [`Error::NotKnown`] if there is a value
    /// for a number whose flag `known` is 0; [`Error::Kinematics`] if the time is not finite; [`Error::NonFiniteEnergy`]
    /// if an energy is not finite.
    pub fn restore(&mut self, snapshot: &[(String, T)]) -> Result<(), Error> {
        let names = self.variable_names();
        let of_both = |i: usize| [names.get(i), snapshot.get(i).map(|(name, _)| name)];
        let differ = |i: &usize| matches!(of_both(*i), [expected, found] if expected != found);
        if let Some(position) = (0..names.len().max(snapshot.len())).find(differ) {
            let [expected, found] = of_both(position).map(Option::<&String>::cloned);
            return Err(Error::SnapshotMismatch { position, expected, found });
        }
        let values: Vec<T> = snapshot.iter().map(|(_, value)| *value).collect();
        self.restore_values(&values)
    }

    /// Restores all variables from their values, in the order of [`variable_names`](Self::variable_names) and
    /// [`visit_variables`](Self::visit_variables), for functions of an array. Drops the state below Instance stage.
    ///
    /// # Errors
    /// [`Error::LayoutMismatch`] if there are more or fewer values than variables; otherwise as
    /// [`restore`](Self::restore).
    pub fn restore_values(&mut self, values: &[T]) -> Result<(), Error> {
        self.restore_layout(self.layout, values)
    }

    /// All variables as little-endian bytes, smaller and faster than a [`snapshot`](Self::snapshot). The bytes are a hash
    /// of the names of all variables in their order; the values in the order of [`variable_names`](Self::variable_names),
    /// each as `f64` (a flag is 1 or 0; the derivatives of dual numbers are left out); and a checksum of all bytes before
    /// it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.save_bytes(&mut bytes);
        bytes
    }

    /// Replaces these bytes by the [bytes](Self::to_bytes) of this state; allocates nothing if their number is the same
    /// as before.
    pub fn save_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend(self.layout.to_le_bytes());
        self.visit_variables(&mut |entry| bytes.extend(entry.value.number().to_f64().to_le_bytes()));
        let sum = checksum(bytes);
        bytes.extend(sum.to_le_bytes());
    }

    /// Restores all variables from the [bytes](Self::to_bytes) of a state of this or an equal system; drops the state below
    /// Instance stage.
    ///
    /// # Errors
    /// [`Error::DamagedBytes`] if the checksum or the length is wrong (a change of one value is always detected, other
    /// changes almost always); [`Error::LayoutMismatch`] if the bytes belong to a system whose variables have other
    /// names; otherwise as [`restore`](Self::restore).
    pub fn restore_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let (words, rest) = bytes.as_chunks::<8>();
        let Some((sum, [layout, values @ ..])) = words.split_last().filter(|_| rest.is_empty()) else {
            return Err(Error::DamagedBytes);
        };
        let checked = bytes.split_at(bytes.len() - sum.len()).0;
        if checksum(checked) != u64::from_le_bytes(*sum) {
            return Err(Error::DamagedBytes);
        }
        let values: Vec<_> = values.iter().map(|&word| T::lit(f64::from_le_bytes(word))).collect();
        self.restore_layout(u64::from_le_bytes(*layout), &values)
    }

    /// Restores all variables from their values in order, if their layout is that of this state.
    pub(crate) fn restore_layout(&mut self, layout: u64, values: &[T]) -> Result<(), Error> {
        if layout != self.layout {
            return Err(Error::LayoutMismatch);
        }
        let before = self.checkpoint();
        let outcome = self.write_values(values);
        if outcome.is_err() {
            let stage = self.stage;
            self.return_to(&before)?;
            self.stage = stage;
        }
        outcome
    }

    /// Writes all variables in order; on an error some of them have been written.
    fn write_values(&mut self, values: &[T]) -> Result<(), Error> {
        let Self { kinematics, kinds, continuous, .. } = self;
        let (mut rest, mut is_complete) = (values.iter(), true);
        let mut write = |slot: Slot<'_, T>| match (slot, rest.next()) {
            (Slot::Number(number), Some(&value)) => *number = value,
            // A value that is refused here is found below.
            (flag, Some(&value)) => drop(flag.write("flag", value)),
            (_, None) => is_complete = false,
        };
        write(Slot::Number(&mut kinematics.time));
        let mut start = 0;
        for slots in kinds {
            let places = slots.roster().places.clone();
            for (place, _) in places.iter() {
                slots.visit_mut(place, &mut |entry| write(entry.value));
                write(Slot::Number(&mut continuous.values[start + place]));
                write(Slot::Flag(&mut continuous.accounts[start + place].is_open));
            }
            start += places.len();
        }
        if !is_complete || rest.next().is_some() {
            return Err(Error::LayoutMismatch);
        }
        self.check_kept(values)?;
        finite(self.kinematics.time.is_finite(), Quantity::Time)?;
        self.elements().try_for_each(|(slots, place, _)| slots.validate(place))?;
        self.collect(Group::Continuous);
        finite_energy(self.continuous.values.iter().all(T::is_finite))?;
        self.continuous.was_restored();
        self.invalidate(Stage::Instance);
        Ok(())
    }

    /// Refuses values that a variable does not keep, with the name of the first: a flag keeps only 0 and 1, and an
    /// `Option` without its flag keeps no number.
    fn check_kept(&self, values: &[T]) -> Result<(), Error> {
        let (mut rest, mut refused) = (values.iter(), Ok(()));
        self.visit_variables(&mut |entry| {
            let is_kept = rest.next().is_some_and(|&value| is_same_number(entry.value.number(), value));
            if refused.is_ok() && !is_kept {
                let name = entry.name.to_string();
                refused = Err(match entry.value {
                    Value::Flag(_) => Error::NotAFlag { name },
                    Value::Number(_) => Error::NotKnown { name },
                });
            }
        });
        refused
    }

    /// Calls `visit` once for each variable, with its full name, unit, stage and value, in the order in which
    /// [`snapshot`](Self::snapshot) lists them. Nothing is allocated.
    ///
    /// The absorbed energy and the account flag of an element are listed with Dynamics stage, at which they are read. A
    /// write of these keeps the stage of the state.
    pub fn visit_variables(&self, visit: Visitor<'_, T>) {
        let value = Value::Number(self.kinematics.time);
        visit(Entry { name: format_args!("time"), unit: "s", stage: Stage::Time, value });
        for (slots, place, slot) in self.elements() {
            let kind = slots.roster().kind;
            let mut visit = |entry: Entry<'_, Value<T>>| {
                let field = entry.name;
                visit(entry.renamed(format_args!("{kind}[{place}].{field}")));
            };
            slots.visit(place, Group::Variables, &mut visit);
            let energy = Value::Number(self.continuous.values[slot]);
            let is_open = Value::Flag(self.continuous.accounts[slot].is_open);
            visit(account(format_args!("{ABSORBED_ENERGY}")).number(energy));
            visit(account(format_args!("{ACCOUNT_OPEN}")).flag(is_open));
        }
    }
}

/// A variable of an element's energy account.
fn account(name: Arguments<'_>) -> Declared<'_> {
    Declared { name, units: &["J"], stage: Stage::Dynamics }
}
