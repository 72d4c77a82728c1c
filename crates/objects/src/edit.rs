//! Checked edits: each changes one field, makes at most the mapping that it is for, and says what
//! is in its way.

use serde_json::{Map, Value};

use super::Object;
use super::misfit::{Misfit, Shape};
use windlass_source::diag::{FieldPath, Segment};

impl Object {
    /// Sets `metadata.name`.
    ///
    /// # Errors
    /// When `metadata` is not a mapping.
    pub fn set_name(&mut self, name: &str) -> Result<(), Misfit> {
        self.set(&FieldPath::of_fields("metadata.name"), name.into())
    }

    /// Sets `metadata.namespace`.
    ///
    /// # Errors
    /// When `metadata` is not a mapping.
    pub fn set_namespace(&mut self, namespace: &str) -> Result<(), Misfit> {
        self.set(
            &FieldPath::of_fields("metadata.namespace"),
            namespace.into(),
        )
    }

    /// Sets a label.
    ///
    /// # Errors
    /// When `metadata` or its `labels` are not mapping.
    pub fn set_label(&mut self, key: &str, value: &str) -> Result<(), Misfit> {
        self.set_in_metadata("labels", key, value)
    }

    /// Sets an annotation.
    ///
    /// # Errors
    /// When `metadata` or its `annotations` are not mapping.
    pub fn set_annotation(&mut self, key: &str, value: &str) -> Result<(), Misfit> {
        self.set_in_metadata("annotations", key, value)
    }

    fn set_in_metadata(&mut self, map: &str, key: &str, value: &str) -> Result<(), Misfit> {
        let path = FieldPath::of_fields("metadata").field(map);
        if self.field(&["metadata", map]).is_none_or(Value::is_null) {
            self.set(&path, Map::new().into())?;
        }
        self.set(&path.key(key), value.into())
    }

    /// Sets a field of a mapping that is there, or an item of a list that has it.
    ///
    /// # Errors
    /// When something on the way is absent or has a different type.
    pub fn set(&mut self, path: &FieldPath, new: Value) -> Result<(), Misfit> {
        let Some((last, _)) = path.segments().split_last() else {
            *self.value_mut() = new;
            return Ok(());
        };
        let mut at = FieldPath::root();
        let mut value = self.value_mut();
        for segment in &path.segments()[..path.segments().len() - 1] {
            value = step(value, &at, segment)?;
            at.push(segment.clone());
        }
        if let (Value::Object(map), Segment::Field(name) | Segment::Key(name)) = (&mut *value, last)
        {
            map.insert(name.clone(), new);
            return Ok(());
        }
        *step(value, &at, last)? = new;
        Ok(())
    }

    /// Changes all texts, but no keys. The depth is that of the reader's limits.
    pub fn edit_texts(&mut self, edit: impl Fn(&mut String)) {
        edit_texts(self.value_mut(), &edit);
    }

    /// Drops the keys whose value is null, as the client or the API server does.
    pub fn drop_nulls(&mut self) {
        drop_nulls(self.value_mut());
    }
}

fn step<'v>(
    value: &'v mut Value,
    at: &FieldPath,
    segment: &Segment,
) -> Result<&'v mut Value, Misfit> {
    let (wanted, within) = match segment {
        Segment::Field(name) | Segment::Key(name) => (Shape::Mapping, name.as_str()),
        Segment::Index(_) => (Shape::List, ""),
    };
    if Shape::of(value) != wanted {
        return Err(Misfit::new(at, wanted, value, within));
    }
    let found = match segment {
        Segment::Field(name) | Segment::Key(name) => value.get_mut(name),
        Segment::Index(index) => value.get_mut(index),
    };
    found.ok_or_else(|| Misfit::new(&at.with(segment.clone()), Shape::Mapping, &Value::Null, ""))
}

fn edit_texts(value: &mut Value, edit: &impl Fn(&mut String)) {
    match value {
        Value::String(text) => edit(text),
        Value::Array(items) => items.iter_mut().for_each(|item| edit_texts(item, edit)),
        Value::Object(map) => map.values_mut().for_each(|value| edit_texts(value, edit)),
        _ => {}
    }
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        _ => {}
    }
}
