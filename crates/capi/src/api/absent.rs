//! A spec that is not there reads as an empty one.
//!
//! The schema does not require `spec`, but the derive of kube makes it a plain field, which serde
//! would then demand: one object without it would break every list that a controller reads. serde
//! asks the type of a missing field whether it is optional, and here the answer is yes.

/// Implements serde's traits for a struct marked `#[serde(remote = "Self")]`; absent and null read
/// as `Default`.
macro_rules! absent_as_empty {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $name::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Present;

                impl<'de> serde::de::Visitor<'de> for Present {
                    type Value = $name;

                    fn expecting(
                        &self,
                        formatter: &mut std::fmt::Formatter<'_>,
                    ) -> std::fmt::Result {
                        formatter.write_str(concat!("struct ", stringify!($name)))
                    }

                    fn visit_none<E: serde::de::Error>(self) -> Result<$name, E> {
                        Ok($name::default())
                    }

                    fn visit_unit<E: serde::de::Error>(self) -> Result<$name, E> {
                        Ok($name::default())
                    }

                    fn visit_some<D: serde::Deserializer<'de>>(
                        self,
                        deserializer: D,
                    ) -> Result<$name, D::Error> {
                        $name::deserialize(deserializer)
                    }
                }

                deserializer.deserialize_option(Present)
            }
        }
    };
}

pub(crate) use absent_as_empty;
