//! The certificate of the webhooks is exchanged while they are called.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::site::{Site, Ways};
use super::sized;
use super::strangers::Webhook;
use crate::harness::runner::Context;
use crate::harness::{ports, tls, wait};

const SOON: Duration = Duration::from_secs(30);
const LONG: Duration = Duration::from_secs(600);

/// Configs are checked by the manager's webhook, called by the API server for four clients at once;
/// meanwhile its certificate is exchanged again and again, first the one file and then the other.
/// Each new one is shown soon, and no call fails.
pub(crate) fn certificates_are_exchanged_under_load(context: &Context) {
    let plane = context.kinds();
    let ways = Ways::by(&plane, &plane.url);
    let site = Site::empty(&plane, "exchanged");
    let folder = context.folder().join("certificates");
    std::fs::create_dir_all(&folder).unwrap();
    let put = |file: &str, text: &str| std::fs::write(folder.join(file), text).unwrap();
    put("tls.crt", &plane.certificates.serving.certificate);
    put("tls.key", &plane.certificates.serving.key);
    let port = ports::free();
    let arguments = [
        format!("--webhook-port={port}"),
        format!("--webhook-cert-dir={}", folder.display()),
    ];
    let mut manager = site.manager(&ways, &arguments.each_ref().map(String::as_str));
    let authority = &plane.certificates.authority;
    let shows = |certificate: &str| {
        wait::until("the certificate to be shown", SOON, || {
            let is_shown = context
                .runtime()
                .block_on(tls::shows(authority, port, certificate));
            if is_shown {
                Ok(())
            } else {
                Err("another one".to_owned())
            }
        });
    };
    shows(&plane.certificates.serving.certificate);
    let webhook = Webhook::called(&plane, &site, "exchanged", port);

    let began = Instant::now();
    let (is_over, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) && began.elapsed() < LONG {
                    webhook.answers();
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for _ in 0..sized(3, 20) {
            let next = plane.certificates.next_serving();
            put("tls.crt", &next.certificate);
            // As long as it is looked at twice at least.
            std::thread::sleep(Duration::from_millis(sized(100, 4500)));
            put("tls.key", &next.key);
            shows(&next.certificate);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    println!("  {} calls", calls.load(Ordering::Relaxed));
    assert!(calls.load(Ordering::Relaxed) > 10, "there was no load");
    manager.assert_running();
    webhook.remove();
    manager.stop();
}
