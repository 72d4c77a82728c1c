//! A value while it is computed with.

use windlass_go_text::value::Value;

/// A value as Go's `reflect` holds it: `boxed` says that its type is `interface {}`, which some
/// messages show. `nil` without a box is no value at all. `named` is the name of its type where
/// that is not what the value says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    pub(super) value: Value,
    pub(super) boxed: bool,
    pub(super) named: Option<&'static str>,
}

impl Held {
    pub(super) fn plain(value: Value) -> Self {
        Held {
            value,
            boxed: false,
            named: None,
        }
    }

    pub(super) fn boxed(value: Value) -> Self {
        Held {
            value,
            boxed: true,
            named: None,
        }
    }

    /// A value of a type that [`Value`] does not tell from another.
    pub(super) fn named(value: Value, type_name: &'static str) -> Self {
        Held {
            value,
            boxed: false,
            named: Some(type_name),
        }
    }

    pub(super) fn unboxed(self) -> Self {
        Held {
            boxed: false,
            ..self
        }
    }

    pub(super) fn nothing() -> Self {
        Held::plain(Value::Nil)
    }

    pub(super) fn is_nothing(&self) -> bool {
        !self.boxed && self.value == Value::Nil
    }

    /// The name of the type of what may be in a box.
    pub(super) fn inner_type_name(&self) -> &'static str {
        self.named.unwrap_or_else(|| self.value.type_name())
    }

    pub(super) fn type_name(&self) -> &'static str {
        if self.boxed {
            "interface {}"
        } else {
            self.inner_type_name()
        }
    }
}
