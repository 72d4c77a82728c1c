//! How a struct of the transpiler is declared.

/// Declares a struct of Go: its fields with their keys, how mappings are decoded to it, and how it
/// is walked over.
macro_rules! go_struct {
    ($(#[$meta:meta])* $name:ident = $go:literal { $($(#[$fmeta:meta])* $field:ident: $type:ty = $key:literal $(as $named:literal)?),* $(,)? } $({ $($rules:item)* })?) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub(crate) struct $name {
            $($(#[$fmeta])* pub(crate) $field: $type),*
        }

        impl FromMapping for $name {
            const GO: &'static str = $go;

            fn field(&mut self, key: &str, decoder: &mut Decoder<'_>, value: NodeId) -> Option<Decoded> {
                match key {
                    $($key => Some(go_struct!(@decode decoder, &mut self.$field, value $(, $named)?)),)*
                    _ => None,
                }
            }
        }

        impl Checked for $name {
            fn shape(&self) -> Shape<'_> {
                Shape::Struct(vec![$(($key, &self.$field as &dyn Checked)),*])
            }

            $($($rules)*)?
        }
    };
    (@decode $decoder:ident, $out:expr, $value:ident) => { $decoder.value($out, $value) };
    (@decode $decoder:ident, $out:expr, $value:ident, $named:literal) => { $decoder.named($out, $named, $value) };
}
pub(super) use go_struct;
