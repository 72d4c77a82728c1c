//! The objects of a watch, by name. The store of kube's reflector has a whole reference and the
//! whole of `ObjectMeta` beside each, which was a third of this process' memory with ten thousand
//! machines.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use kube::runtime::watcher::Event;
use tokio::sync::watch;

use super::kept::{Keeping, Kept, Read};
use super::texts::Texts;
use super::workload::Name;

pub(super) struct Store<K> {
    objects: Arc<RwLock<Objects<K>>>,
    filled: watch::Receiver<bool>,
}

/// What a watch brings goes into the store by this one alone.
pub(super) struct Writer<K> {
    objects: Arc<RwLock<Objects<K>>>,
    filled: watch::Sender<bool>,
    /// While all objects are listed: those that have been so far. Nobody sees them before the list
    /// has ended.
    listed: Objects<K>,
    /// Of the objects that are there and of those that are listed.
    texts: Texts,
}

type Objects<K> = BTreeMap<Name, Arc<Kept<K>>>;

/// What a watch says of an object.
pub(super) struct Told<K> {
    /// What was there, as far as is known.
    pub(super) before: Option<Arc<Kept<K>>>,
    /// What is there; `None`: it is gone.
    pub(super) now: Option<Arc<Kept<K>>>,
}

impl<K: Keeping> Store<K> {
    pub(super) fn get(&self, name: &Name) -> Option<Arc<Kept<K>>> {
        self.objects
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned()
    }

    pub(super) fn all(&self, is_meant: impl Fn(&Kept<K>) -> bool) -> Vec<Arc<Kept<K>>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects
            .values()
            .filter(|object| is_meant(object))
            .cloned()
            .collect()
    }

    /// Waits until all that is there has been listed; for ever, if nobody polls the watch.
    pub(super) async fn filled(&self) {
        // The writer lives as long as its watch; without it nothing is asked any more.
        drop(self.filled.clone().wait_for(|filled| *filled).await);
    }
}

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Store {
            objects: self.objects.clone(),
            filled: self.filled.clone(),
        }
    }
}

impl<K: Keeping> Writer<K> {
    /// A store, and who writes into it.
    pub(super) fn new() -> (Self, Store<K>) {
        let (sender, filled) = watch::channel(false);
        let objects = Arc::<RwLock<Objects<K>>>::default();
        (
            Writer {
                objects: objects.clone(),
                filled: sender,
                listed: Objects::new(),
                texts: Texts::default(),
            },
            Store { objects, filled },
        )
    }

    /// Takes over what the watch brings, and says what that was of. What is listed is reported when
    /// the list has ended, and with it what was deleted between two watches.
    pub(super) fn take(&mut self, event: Event<Read<K>>) -> Vec<Told<K>> {
        match event {
            Event::Apply(Read { kept, .. }) => {
                let now = self.with_shared_texts(kept);
                let before = self.write(|objects| objects.insert(now.name().clone(), now.clone()));
                self.release(before.as_deref());
                vec![Told {
                    before,
                    now: Some(now),
                }]
            }
            Event::Delete(Read { kept, .. }) => {
                let before = self.write(|objects| objects.remove(kept.name()));
                self.release(before.as_deref());
                vec![Told {
                    before: Some(kept),
                    now: None,
                }]
            }
            Event::Init => {
                // A list that was given up: what it had may be gone.
                let given_up = std::mem::take(&mut self.listed);
                given_up
                    .values()
                    .for_each(|object| self.release(Some(object)));
                Vec::new()
            }
            Event::InitApply(Read { kept, .. }) => {
                let now = self.with_shared_texts(kept);
                let twice = self.listed.insert(now.name().clone(), now);
                self.release(twice.as_deref());
                Vec::new()
            }
            Event::InitDone => self.listed(),
        }
    }

    fn listed(&mut self) -> Vec<Told<K>> {
        let listed = std::mem::take(&mut self.listed);
        let now = listed.clone();
        let mut before = self.write(|objects| std::mem::replace(objects, now));
        before
            .values()
            .for_each(|object| self.release(Some(object)));
        let mut told: Vec<_> = listed
            .into_iter()
            .map(|(name, object)| Told {
                before: before.remove(&name),
                now: Some(object),
            })
            .collect();
        told.extend(before.into_values().map(|object| Told {
            before: Some(object),
            now: None,
        }));
        self.filled.send_replace(true);
        told
    }

    /// An object comes: of its name and of what others have, too, there is one text.
    fn with_shared_texts(&mut self, mut object: Arc<Kept<K>>) -> Arc<Kept<K>> {
        let known = self
            .objects
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get_key_value(object.name())
            .map(|(name, _)| name.clone());
        let kept = Arc::make_mut(&mut object);
        known.into_iter().for_each(|name| kept.rename(name));
        kept.shared_mut().for_each(|text| self.texts.share(text));
        object
    }

    /// An object is not in the store any more.
    fn release(&mut self, object: Option<&Kept<K>>) {
        object
            .into_iter()
            .flat_map(Kept::shared)
            .for_each(|text| self.texts.release(text));
    }

    fn write<T>(&self, write: impl FnOnce(&mut Objects<K>) -> T) -> T {
        write(&mut self.objects.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<K: Keeping> Told<K> {
    /// The object as it is, or as it was last.
    pub(super) fn object(self) -> Option<Arc<Kept<K>>> {
        self.now.or(self.before)
    }

    /// Whether anything of it is other than it was. What goes is.
    pub(super) fn is_news(&self) -> bool {
        match (&self.before, &self.now) {
            (Some(before), Some(now)) => !before.has_content_of(now),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::controller::caches::{OfConfigs, OfCore};

    fn machine(name: &str, version: &str) -> Read<OfCore> {
        let metadata = json!({"name": name, "namespace": "n", "resourceVersion": "1"});
        serde_json::from_value(json!({"apiVersion": "a/b", "kind": "Machine", "metadata": metadata, "spec": {"version": version}})).unwrap()
    }

    /// What a store tells of, as `name:version`, in parentheses what is gone; with a mark what is
    /// news.
    fn taken(writer: &mut Writer<OfCore>, event: Event<Read<OfCore>>) -> Vec<String> {
        let told = writer.take(event).into_iter().map(|told| {
            let mark = if told.is_news() { "!" } else { "" };
            let is_gone = told.now.is_none();
            let object = told.object().unwrap();
            let text = format!(
                "{}:{}",
                object.name().1,
                object.value()["spec"]["version"].as_str().unwrap()
            );
            if is_gone {
                format!("({text}){mark}")
            } else {
                format!("{text}{mark}")
            }
        });
        told.collect()
    }

    #[test]
    fn what_is_new_what_has_changed_and_what_goes_is_news() {
        let (mut writer, store) = Writer::new();
        let mut told = |event| taken(&mut writer, event);
        let none = [""; 0];
        let name = ("n".into(), "m".into());
        let has = |version: Option<&str>| {
            let there = store.get(&name).map(|object| {
                object.value()["spec"]["version"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            });
            assert_eq!(there.as_deref(), version);
        };
        assert_eq!(told(Event::Init), none);
        assert_eq!(told(Event::InitApply(machine("m", "1"))), none);
        has(None);
        assert_eq!(told(Event::InitDone), ["m:1!"]);
        has(Some("1"));
        assert_eq!(told(Event::Apply(machine("m", "1"))), ["m:1"]);
        assert_eq!(told(Event::Apply(machine("m", "2"))), ["m:2!"]);
        has(Some("2"));
        assert_eq!(
            told(Event::Delete(machine("m", "3"))),
            ["(m:3)!"],
            "as it was last"
        );
        has(None);
        assert_eq!(
            told(Event::Apply(machine("m", "2"))),
            ["m:2!"],
            "made again"
        );
        let mut going = machine("m", "2").kept.value();
        going["metadata"]["deletionTimestamp"] = json!("1970-01-01T00:00:00Z");
        assert_eq!(
            told(Event::Apply(serde_json::from_value(going).unwrap())),
            ["m:2!"],
            "it goes"
        );
    }

    /// A list that begins again tells of what it had when it has ended, once, and of what went
    /// while nobody watched.
    #[test]
    fn what_is_listed_comes_when_the_list_has_ended() {
        let (mut writer, store) = Writer::new();
        let mut told = |event| taken(&mut writer, event);
        let none = [""; 0];
        assert_eq!(told(Event::Init), none);
        assert_eq!(told(Event::InitApply(machine("x", "1"))), none);
        // That list was given up, and what it had is gone.
        assert_eq!(told(Event::Init), none);
        assert_eq!(told(Event::InitApply(machine("a", "1"))), none);
        assert_eq!(told(Event::InitApply(machine("b", "1"))), none);
        assert_eq!(told(Event::InitDone), ["a:1!", "b:1!"]);
        assert_eq!(told(Event::Apply(machine("c", "1"))), ["c:1!"]);
        assert_eq!(told(Event::Init), none);
        assert_eq!(
            store.all(|_| true).len(),
            3,
            "while it is listed anew, what was there is"
        );
        assert_eq!(told(Event::InitApply(machine("b", "1"))), none);
        assert_eq!(told(Event::InitApply(machine("c", "2"))), none);
        assert_eq!(told(Event::InitDone), ["b:1", "c:2!", "(a:1)!"]);
        assert_eq!(store.all(|object| *object.name().1 != *"b").len(), 1);
        assert_eq!(told(Event::Init), none);
        assert_eq!(told(Event::InitDone), ["(b:1)!", "(c:2)!"]);
    }

    /// The files of a template are kept once, and no longer than one of those configs.
    #[test]
    fn configs_of_one_template_have_one_text_of_their_files() {
        let config = |name: &str, path: &str| -> Read<OfConfigs> {
            let metadata = json!({"name": name, "namespace": "n", "resourceVersion": "1"});
            serde_json::from_value(
                json!({"kind": "WindlassConfig", "metadata": metadata, "spec": {"files": [{"path": path}], "verbosity": name.len()}}),
            )
            .unwrap()
        };
        let (mut writer, store) = Writer::new();
        for event in [
            Event::Init,
            Event::InitApply(config("a", "/x")),
            Event::InitDone,
            Event::Apply(config("b", "/x")),
            Event::Apply(config("c", "/y")),
        ] {
            writer.take(event);
        }
        let get = |name: &str| store.get(&("n".into(), name.into())).unwrap();
        let files = |name: &str| get(name).shared().last().unwrap().clone();
        assert!(Arc::ptr_eq(&files("a"), &files("b")) && !Arc::ptr_eq(&files("a"), &files("c")));
        assert_eq!(
            get("b").value()["spec"],
            json!({"files": [{"path": "/x"}], "verbosity": 1})
        );
        let (x, y) = (Arc::downgrade(&files("a")), Arc::downgrade(&files("c")));
        writer.take(Event::Apply(config("c", "/x")));
        assert!(y.upgrade().is_none(), "the last one has another");
        writer.take(Event::Delete(config("a", "/x")));
        // A list that is given up, and one that is not: what it does not have any more went while
        // nobody watched.
        for event in [
            Event::Init,
            Event::InitApply(config("d", "/z")),
            Event::Init,
            Event::InitApply(config("c", "/x")),
            Event::InitDone,
        ] {
            writer.take(event);
        }
        assert!(x.upgrade().is_some());
        let reading = get("c");
        writer.take(Event::Apply(config("c", "/x")));
        writer.take(Event::Delete(config("c", "/x")));
        drop(reading);
        assert!(x.upgrade().is_none(), "whoever read it has it no more");
        assert!(!writer.texts.has_any());
    }

    /// Queue and echoes keep the name, too.
    #[test]
    fn an_object_has_one_name_however_often_it_changes() {
        let (mut writer, store) = Writer::new();
        writer.take(Event::Init);
        writer.take(Event::InitApply(machine("a", "1")));
        writer.take(Event::InitApply(machine("b", "1")));
        writer.take(Event::InitDone);
        let name = |name: &str| {
            store
                .get(&("n".into(), name.into()))
                .unwrap()
                .name()
                .clone()
        };
        let (a, b) = (name("a"), name("b"));
        assert!(Arc::ptr_eq(&a.0, &b.0));
        writer.take(Event::Apply(machine("a", "2")));
        writer.take(Event::Init);
        writer.take(Event::InitApply(machine("b", "2")));
        writer.take(Event::InitDone);
        writer.take(Event::Apply(machine("b", "3")));
        assert!(Arc::ptr_eq(&name("b").1, &b.1) && Arc::ptr_eq(&name("b").0, &b.0));
    }

    #[tokio::test]
    async fn a_store_is_filled_when_the_first_list_has_ended() {
        let (mut writer, store) = Writer::<OfCore>::new();
        let is_filled = async || {
            let mut filled = Box::pin(store.filled());
            futures::poll!(&mut filled).is_ready()
        };
        for (event, expected) in [
            (Event::Init, false),
            (Event::InitApply(machine("a", "1")), false),
            (Event::InitDone, true),
            (Event::Init, true),
        ] {
            writer.take(event);
            assert_eq!(is_filled().await, expected);
        }
    }
}
