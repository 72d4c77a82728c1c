//! Texts that many objects have in common, each once: all configs of a MachineDeployment have the
//! files of its template, all machines of a cluster its name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// The texts of the objects of a store, and how many of these have each.
#[derive(Default)]
pub(super) struct Texts(BTreeMap<Arc<str>, usize>);

impl Texts {
    /// An object comes that has this text: it becomes the one that the others have.
    pub(super) fn share(&mut self, text: &mut Arc<str>) {
        match self.0.entry(text.clone()) {
            Entry::Occupied(mut known) => {
                *text = known.key().clone();
                *known.get_mut() += 1;
            }
            Entry::Vacant(new) => drop(new.insert(1)),
        }
    }

    /// An object goes that had this text: with the last one the text is let go.
    pub(super) fn release(&mut self, text: &str) {
        let Some(count) = self.0.get_mut(text) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            self.0.remove(text);
        }
    }

    #[cfg(test)]
    pub(super) fn has_any(&self) -> bool {
        !self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_there_once_and_as_long_as_an_object_has_it() {
        let mut texts = Texts::default();
        let [mut first, mut second, mut other] = ["a", "a", "b"].map(Arc::<str>::from);
        [&mut first, &mut second, &mut other]
            .into_iter()
            .for_each(|text| texts.share(text));
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!((&*first, &*other, texts.0.len()), ("a", "b", 2));
        texts.release("a");
        assert_eq!(texts.0.len(), 2, "another has it");
        // Whoever still reads the object that went keeps nothing here.
        texts.release("a");
        texts.release("b");
        assert!(texts.0.is_empty());
        texts.release("unknown");
    }
}
