//! Substitution never panics, its places lie within the template, and what it does not replace it copies.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_envsubst as envsubst;
use windlass_source::budget::Budget;

fuzz_target!(|input: (&[u8], &[u8])| {
    let (template, value) = input;
    let parsed = match envsubst::parse(template) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(error.start <= error.stopped && error.stopped <= template.len());
            return;
        }
    };
    for used in parsed.uses() {
        assert!(
            template[used.span.clone()].starts_with(b"${") && template[used.span].ends_with(b"}")
        );
    }
    let Ok(done) = parsed.expand(|_| Some(value.to_vec()), &Budget::default()) else {
        return;
    };
    for offset in 0..=done.bytes.len() {
        let place = done.map.to_template_range(offset..offset + 1);
        assert!(place.start <= place.end && place.end <= template.len());
        assert_eq!(place.start, done.map.to_template(offset));
    }
    if !template.contains(&b'$') && !template.contains(&0) {
        assert_eq!(done.bytes, template);
    }
});
