//! Moves the fields of an object as the table says, in either direction.

use serde_json::{Map, Value};

use super::table::{Form, Move};
use super::{Conversion, ConversionContext, Loss};
use crate::api::names::Version;
use crate::api::time::GoDuration;
use windlass_source::diag::{FieldPath, Segment};

/// The fields of an object reference that v1beta2 keeps beside its group or version.
const KEPT: [&str; 2] = ["kind", "name"];

impl Conversion {
    /// Makes the moves of the table, from v1beta1 to v1beta2 in its order, and back in the opposite
    /// one.
    pub(super) fn relocate(
        &mut self,
        moves: &[Move],
        to: Version,
        context: &ConversionContext<'_>,
    ) {
        match to {
            Version::V1Beta2 => moves
                .iter()
                .for_each(|row| self.relocate_one(&row.old, &row.new, row.form, to, context)),
            Version::V1Beta1 => moves
                .iter()
                .rev()
                .for_each(|row| self.relocate_one(&row.new, &row.old, row.form, to, context)),
        }
    }

    fn relocate_one(
        &mut self,
        from: &str,
        into: &str,
        form: Form,
        to: Version,
        context: &ConversionContext<'_>,
    ) {
        for (from, into) in places(&self.value, from, into) {
            let Some(found) = at(&self.value, &from) else {
                continue;
            };
            let converted = match form {
                Form::Same => Ok(found.clone()),
                Form::Seconds if to == Version::V1Beta2 => seconds(found),
                Form::Seconds => duration(found),
                Form::Reference | Form::Template => self.reference(&from, form, to, context),
            };
            match converted {
                Ok(value) => self.put(&from, &into, value, form, to),
                Err(message) => self.fault(&from, message, help(&from, &into, form, to)),
            }
        }
    }

    /// Puts a value in its new place, and takes it and what it leaves empty from the old one.
    fn put(&mut self, from: &FieldPath, into: &FieldPath, value: Value, form: Form, to: Version) {
        if from != into && at(&self.value, into).is_some() {
            let message = format!("the object has it also as {into}, which is of {to}");
            return self.fault(from, message, "remove one of the two".to_owned());
        }
        let origin = self.origins.of(from);
        if from != into {
            self.origins.follow(from, into);
        }
        let (old, new) = if to == Version::V1Beta2 {
            ("apiVersion", "apiGroup")
        } else {
            ("apiGroup", "apiVersion")
        };
        if form == Form::Reference && at(&self.value, &from.field(old)).is_some() {
            self.origins.note(into.field(new), origin.field(old));
        }
        take(&mut self.value, from);
        insert(&mut self.value, into, value);
    }

    fn reference(
        &mut self,
        from: &FieldPath,
        form: Form,
        to: Version,
        context: &ConversionContext<'_>,
    ) -> Result<Value, String> {
        let Some(Value::Object(reference)) = at(&self.value, from) else {
            return Ok(at(&self.value, from).cloned().unwrap_or_default());
        };
        let text = |field: &str| {
            reference
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let written = text("apiVersion");
        if form == Form::Reference && written.matches('/').count() > 1 {
            return Err(format!(
                "failed to parse apiVersion: unexpected GroupVersion string: {written}"
            ));
        }
        let (group, name) = match to {
            _ if form == Form::Template => (text("apiVersion").to_owned(), "apiVersion"),
            Version::V1Beta2 if reference.contains_key("apiVersion") => (
                text("apiVersion")
                    .split_once('/')
                    .map_or("", |(group, _)| group)
                    .to_owned(),
                "apiGroup",
            ),
            Version::V1Beta2 => (text("apiGroup").to_owned(), "apiGroup"),
            Version::V1Beta1 if reference.contains_key("apiGroup") => {
                let (group, kind) = (text("apiGroup"), text("kind"));
                let version = (context.version_of)(group, kind);
                let version =
                    version.ok_or_else(|| format!("the version of {kind} in {group} is not known: no document of the input has it"))?;
                (format!("{group}/{version}"), "apiVersion")
            }
            Version::V1Beta1 => (text("apiVersion").to_owned(), "apiVersion"),
        };
        if group.is_empty() && !context.keeps_incomplete {
            return Err(format!("the reference has no {name}"));
        }
        let kept = |field: &str| {
            KEPT.contains(&field)
                || ["apiVersion", "apiGroup"].contains(&field)
                || to == Version::V1Beta1
        };
        let lost: Vec<FieldPath> = reference
            .keys()
            .filter(|field| !kept(field))
            .map(|field| from.field(field.as_str()))
            .collect();
        let mut new: Map<String, Value> = reference
            .iter()
            .filter(|(field, _)| kept(field))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        new.remove("apiVersion");
        new.remove("apiGroup");
        if !group.is_empty() {
            new.insert(name.to_owned(), group.into());
        }
        lost.iter().for_each(|path| self.lose(path, Loss::Unused));
        Ok(Value::Object(new))
    }
}

/// What to write in place of what cannot be converted.
fn help(from: &FieldPath, into: &FieldPath, form: Form, to: Version) -> String {
    match (form, to) {
        (Form::Seconds, Version::V1Beta2) => {
            format!("write whole seconds at {into}, such as `600`, and remove {from}")
        }
        (Form::Seconds, Version::V1Beta1) => {
            format!("write a duration at {into}, such as `10m`, and remove {from}")
        }
        (Form::Reference, Version::V1Beta1) => {
            format!(
                "write `apiVersion: GROUP/VERSION` at {into}, or name a file with an object of that kind too"
            )
        }
        _ => format!("write `apiVersion`, `kind` and `name` at {from}"),
    }
}

/// The seconds of a duration; null counts as absence.
pub(super) fn seconds(found: &Value) -> Result<Value, String> {
    let Some(text) = found.as_str() else {
        return if found.is_null() {
            Ok(Value::Null)
        } else {
            Err(format!("`{found}` is not a duration such as 1h30m"))
        };
    };
    match GoDuration::parse(text) {
        Ok(duration) if duration.as_nanoseconds() % 1_000_000_000 == 0 => {
            Ok(duration.whole_seconds().into())
        }
        Ok(_) => Err(format!("`{text}` is not a whole number of seconds")),
        Err(_) => Err(format!("`{text}` is not a duration such as 1h30m")),
    }
}

fn duration(found: &Value) -> Result<Value, String> {
    match found
        .as_i64()
        .and_then(|seconds| i32::try_from(seconds).ok())
    {
        Some(seconds) => Ok(GoDuration::from_seconds(seconds).to_string().into()),
        None if found.is_null() => Ok(Value::Null),
        None => Err(format!("`{found}` is not a number of seconds")),
    }
}

pub(super) fn at<'v>(value: &'v Value, path: &FieldPath) -> Option<&'v Value> {
    path.segments().iter().try_fold(value, step)
}

pub(super) fn at_mut<'v>(value: &'v mut Value, path: &FieldPath) -> Option<&'v mut Value> {
    path.segments()
        .iter()
        .try_fold(value, |value, segment| match segment {
            Segment::Field(name) | Segment::Key(name) => value.get_mut(name.as_str()),
            Segment::Index(index) => value.get_mut(*index),
        })
}

fn step<'v>(value: &'v Value, segment: &Segment) -> Option<&'v Value> {
    match segment {
        Segment::Field(name) | Segment::Key(name) => value.get(name.as_str()),
        Segment::Index(index) => value.get(*index),
    }
}

/// Each place where a path of the table leads in an object, with the one that takes it up.
pub(super) fn places(value: &Value, from: &str, into: &str) -> Vec<(FieldPath, FieldPath)> {
    let Some((list, inner)) = from.split_once("[].") else {
        return vec![(FieldPath::of_fields(from), FieldPath::of_fields(into))];
    };
    let inner_into = into.split_once("[].").map_or(into, |(_, inner)| inner);
    let list = FieldPath::of_fields(list);
    let Some(Value::Array(items)) = at(value, &list) else {
        return Vec::new();
    };
    let of_item = |(index, item): (usize, &Value)| {
        let item_path = list.index(index);
        places(item, inner, inner_into)
            .into_iter()
            .map(|(from, into)| (item_path.join(&from), item_path.join(&into)))
            .collect::<Vec<_>>()
    };
    items.iter().enumerate().flat_map(of_item).collect()
}

/// Takes a field out of an object, and the objects above it that hold nothing else.
pub(super) fn take(value: &mut Value, path: &FieldPath) -> Option<Value> {
    let (first, rest) = path.segments().split_first()?;
    let (Segment::Field(name) | Segment::Key(name)) = first else {
        let Segment::Index(index) = first else {
            return None;
        };
        return take(value.get_mut(*index)?, &rest.iter().cloned().collect());
    };
    let fields = value.as_object_mut()?;
    if rest.is_empty() {
        return fields.remove(name);
    }
    let inner = fields.get_mut(name)?;
    let taken = take(inner, &rest.iter().cloned().collect());
    if taken.is_some() && inner.as_object().is_some_and(Map::is_empty) {
        fields.remove(name);
    }
    taken
}

/// Puts a value at a path of fields, and makes the objects above it.
pub(super) fn insert(value: &mut Value, path: &FieldPath, new: Value) {
    let mut value = value;
    for segment in path.segments() {
        value = match segment {
            Segment::Index(index) => match value.get_mut(*index) {
                Some(item) => item,
                None => return,
            },
            Segment::Field(name) | Segment::Key(name) => {
                if value.is_null() {
                    *value = Value::Object(Map::new());
                }
                match value {
                    Value::Object(fields) => fields.entry(name.as_str()).or_insert(Value::Null),
                    _ => return,
                }
            }
        };
    }
    *value = new;
}
