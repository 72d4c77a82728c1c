//! The `images` section: other registries, names and tags for the images of providers.

use std::collections::BTreeMap;

use super::Config;
use super::setting::Setting;
use crate::Rejection;
use windlass_capi::contract::Image;

/// What replaces the parts of an image name; empty parts replace nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ImageOverride {
    repository: String,
    name: String,
    tag: String,
}

impl ImageOverride {
    fn add(&mut self, other: &ImageOverride) {
        for (mine, theirs) in [
            (&mut self.repository, &other.repository),
            (&mut self.name, &other.name),
            (&mut self.tag, &other.tag),
        ] {
            if !theirs.is_empty() {
                mine.clone_from(theirs);
            }
        }
    }
}

/// All overrides of the configuration; read once for all images of a file.
pub(crate) struct ImageOverrides(Result<BTreeMap<String, ImageOverride>, Rejection>);

impl Config<'_> {
    pub(crate) fn image_overrides(&self) -> ImageOverrides {
        let section = self.setting("images").unwrap_or(Setting::Null);
        ImageOverrides(overrides(&section).map_err(|fault| {
            let fault = faults(&fault);
            Rejection::new(fault).within("failed to unmarshal image override configurations")
        }))
    }
}

fn faults(faults: &[String]) -> String {
    match faults {
        [one] => one.clone(),
        many => format!(
            "decoding failed due to the following error(s):\n\n{}",
            many.join("\n")
        ),
    }
}

fn overrides(section: &Setting) -> Result<BTreeMap<String, ImageOverride>, Vec<String>> {
    let unconvertible = |place: &str, value: &Setting| {
        vec![format!(
            "'{place}' expected type 'map[string]config.imageMeta', got unconvertible type '{}'",
            value.go_type()
        )]
    };
    match section {
        Setting::Null => Ok(BTreeMap::new()),
        Setting::Map(entries) => {
            let mut found = BTreeMap::new();
            let mut faults = Vec::new();
            for (key, value) in entries {
                match image_override(key, value) {
                    Ok(one) => {
                        found.insert(key.clone(), one);
                    }
                    Err(fault) => faults.push(fault),
                }
            }
            if faults.is_empty() {
                Ok(found)
            } else {
                Err(faults)
            }
        }
        Setting::List(items) => {
            let mut found = BTreeMap::new();
            for (at, item) in items.iter().enumerate() {
                match item {
                    Setting::Map(_) => found.extend(overrides(item)?),
                    other => return Err(unconvertible(&format!("[{at}]"), other)),
                }
            }
            Ok(found)
        }
        other => Err(unconvertible("", other)),
    }
}

fn image_override(key: &str, value: &Setting) -> Result<ImageOverride, String> {
    let Setting::Map(fields) = value else {
        return match value {
            Setting::Null => Ok(ImageOverride::default()),
            other => Err(format!(
                "'[{key}]' expected a map or struct, got \"{}\"",
                other.go_type()
            )),
        };
    };
    let field = |name: &str, shown: &str| match fields.get(name) {
        None => Ok(String::new()),
        Some(value) => value.to_field().ok_or_else(|| {
            format!(
                "'[{key}].{shown}' expected type 'string', got unconvertible type '{}'",
                value.go_type()
            )
        }),
    };
    Ok(ImageOverride {
        repository: field("repository", "Repository")?,
        name: field("name", "Name")?,
        tag: field("tag", "Tag")?,
    })
}

impl ImageOverrides {
    /// The name of an image of a component (a provider's label) after all overrides that apply to
    /// it.
    ///
    /// # Errors
    /// When the image has no canonical name, even if nothing overrides it; or the section has the
    /// wrong shape.
    pub(crate) fn apply(&self, component: &str, text: &str) -> Result<String, Rejection> {
        let mut image = Image::parse(text).map_err(|fault| {
            Rejection::new(fault.to_string()).within("couldn't parse image name")
        })?;
        let overrides = self.0.as_ref().map_err(Clone::clone)?;
        if overrides.is_empty() {
            return Ok(text.to_owned());
        }
        let mut all = ImageOverride::default();
        for key in ["all", component, &format!("{component}/{}", image.name)] {
            if let Some(one) = overrides.get(key) {
                all.add(one);
            }
        }
        if !all.repository.is_empty() {
            image.repository = all
                .repository
                .strip_suffix('/')
                .unwrap_or(&all.repository)
                .to_owned();
        }
        if !all.name.is_empty() {
            image.name = all.name;
        }
        if !all.tag.is_empty() {
            image.tag = Some(all.tag);
        }
        Ok(image.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Setting {
        Setting::Text(text.to_owned())
    }

    fn map(entries: &[(&str, Setting)]) -> Setting {
        entries
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect()
    }

    #[test]
    fn later_and_closer_overrides_win() {
        let section = map(&[
            (
                "all",
                map(&[("repository", text("mirror.io/x/")), ("tag", text("v9"))]),
            ),
            ("bootstrap-foo", map(&[("tag", text("v8"))])),
            ("bootstrap-foo/manager", map(&[("name", text("other"))])),
        ]);
        let overrides = ImageOverrides(overrides(&section).map_err(|_| unreachable!()));
        for (component, image, expected) in [
            (
                "bootstrap-foo",
                "ghcr.io/a/manager:v1",
                "mirror.io/x/other:v8",
            ),
            ("bootstrap-foo", "ghcr.io/a/proxy", "mirror.io/x/proxy:v8"),
            (
                "bootstrap-bar",
                "ghcr.io/a/manager:v1",
                "mirror.io/x/manager:v9",
            ),
        ] {
            assert_eq!(
                overrides.apply(component, image).as_deref(),
                Ok(expected),
                "{component} {image}"
            );
        }
    }

    #[test]
    fn wrong_shapes_are_rejected_in_mapstructures_words() {
        let fault = |section: &Setting| faults(&overrides(section).unwrap_err());
        assert_eq!(
            fault(&text("x")),
            "'' expected type 'map[string]config.imageMeta', got unconvertible type 'string'"
        );
        let list = Setting::List(vec![Setting::Integer("1".to_owned())]);
        assert_eq!(
            fault(&list),
            "'[0]' expected type 'map[string]config.imageMeta', got unconvertible type 'int'"
        );
    }
}
