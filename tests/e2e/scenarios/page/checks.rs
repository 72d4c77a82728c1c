//! What is looked at on a page. Each check gives its faults in words.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::browser::{Browser, address};

/// The light or the dark palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Light,
    Dark,
}

impl Scheme {
    pub(super) fn word(self) -> &'static str {
        match self {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        }
    }

    /// Shows the page on a screen whose user prefers it.
    pub(super) fn set(self, browser: &Browser) {
        let feature = json!({"name": "prefers-color-scheme", "value": self.word()});
        browser.devtools(
            "Emulation.setEmulatedMedia",
            &json!({"media": "screen", "features": [feature]}),
        );
    }
}

/// Shows the page on a screen again.
pub(super) fn screen(browser: &Browser) {
    Scheme::Light.set(browser);
}

fn resize(browser: &Browser, width: u32, height: u32, is_phone: bool) {
    let metrics =
        json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone});
    browser.devtools("Emulation.setDeviceMetricsOverride", &metrics);
}

/// A window of a desktop.
pub(super) fn desktop(browser: &Browser) {
    resize(browser, 1100, 900, false);
}

/// The width of a small phone.
const PHONE: u32 = 360;

/// A small phone.
pub(super) fn phone(browser: &Browser) {
    resize(browser, PHONE, 740, true);
}

/// Opens a page: whatever is asked for beside its file, and whatever is said on its console.
pub(super) fn requests(browser: &Browser, file: &Path) -> Vec<String> {
    ["performance", "browser"]
        .iter()
        .for_each(|kind| drop(browser.log(kind)));
    browser.open(file);
    // What a page asks for late, it asks for when it is idle.
    browser.evaluate("return new Promise(done => setTimeout(done, 200))");
    let own = address(file);
    let entries = browser
        .log("performance")
        .into_iter()
        .filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok());
    let asked = entries.filter(|entry| entry["message"]["method"] == "Network.requestWillBeSent");
    let urls: Vec<String> = asked
        .map(|entry| {
            entry["message"]["params"]["request"]["url"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    let mut faults: Vec<String> = urls
        .iter()
        .filter(|url| **url != own)
        .map(|url| format!("asks for {url}"))
        .collect();
    if !urls.contains(&own) {
        faults.push(format!(
            "the log of requests does not even have the page: {urls:?}"
        ));
    }
    faults.extend(
        browser
            .log("browser")
            .iter()
            .map(|entry| format!("console: {}", entry["message"])),
    );
    faults
}

/// The page as a screen reader has it: landmarks, and a name for whatever somebody goes to.
pub(super) fn aloud(browser: &Browser) -> Vec<String> {
    const NAMED: [&str; 11] = [
        "heading",
        "table",
        "link",
        "button",
        "image",
        "img",
        "region",
        "navigation",
        "DisclosureTriangle",
        "columnheader",
        "rowheader",
    ];
    let tree = browser.devtools("Accessibility.getFullAXTree", &json!({}));
    let nodes: Vec<&Value> = tree["nodes"]
        .as_array()
        .map(|nodes| {
            nodes
                .iter()
                .filter(|node| node["ignored"] != true)
                .collect()
        })
        .unwrap_or_default();
    let role = |node: &Value| {
        node["role"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let is_focusable = |node: &Value| {
        let properties = node["properties"].as_array().into_iter().flatten();
        properties
            .clone()
            .any(|property| property["name"] == "focusable" && property["value"]["value"] == true)
    };
    let mut faults: Vec<String> = ["banner", "main", "contentinfo"]
        .into_iter()
        .filter(|landmark| nodes.iter().filter(|node| role(node) == **landmark).count() != 1)
        .map(|landmark| format!("no {landmark}, or several"))
        .collect();
    for node in &nodes {
        let is_named = node["name"]["value"]
            .as_str()
            .is_some_and(|name| !name.trim().is_empty());
        let (role, focusable) = (role(node), is_focusable(node));
        if !is_named && (focusable || NAMED.contains(&role.as_str())) {
            faults.push(format!(
                "{role} without a name: {}",
                node["backendDOMNodeId"]
            ));
        }
    }
    faults.extend(
        nodes
            .iter()
            .filter(|node| role(node) == "LayoutTable")
            .map(|_| "a table that is read as none".to_owned()),
    );
    faults
}

/// WebDriver, "Keyboard actions".
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// The first stops of the keyboard: each is to be seen, the first leads past the list of contents,
/// and what is folded unfolds.
pub(super) fn keyboard(browser: &Browser) -> Vec<String> {
    const SHOWN: &str = "const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect(); \
        return {tag: e.tagName, text: e.textContent.slice(0, 40), seen: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 \
        && r.right > 0 && r.bottom > 0 && r.width > 0}";
    let mut faults = Vec::new();
    browser.evaluate(
        "document.activeElement.blur(); window.scrollTo(0, 0); getSelection().removeAllRanges()",
    );
    for stop in 0..12 {
        browser.press(TAB);
        let shown = browser.evaluate(SHOWN);
        if shown["tag"] == "BODY" {
            break;
        }
        if shown["seen"] != true {
            faults.push(format!("the focus on {shown} is not shown"));
        }
        if stop == 0
            && !shown["text"]
                .as_str()
                .unwrap_or_default()
                .starts_with("Skip to")
        {
            faults.push(format!("the keyboard begins at {shown}"));
        }
    }
    let unfolds =
        "const s = document.querySelector('details summary'); if (s) s.focus(); return s !== null";
    if browser.evaluate(unfolds) == true {
        browser.press(ENTER);
        if browser.evaluate(
            "const d = document.querySelector('details'), was = d.open; d.open = false; return was",
        ) != true
        {
            faults.push("what is folded does not unfold".to_owned());
        }
    }
    faults
}

/// What is wider than the phone. A page that does not know of phones is laid out wider.
pub(super) fn overflow(browser: &Browser) -> Vec<String> {
    let needed = browser
        .evaluate("return document.documentElement.scrollWidth")
        .as_u64()
        .unwrap_or(u64::MAX);
    if needed <= PHONE.into() {
        Vec::new()
    } else {
        vec![format!("{needed} pixels are needed of {PHONE}")]
    }
}

/// WCAG 2.2, 1.4.3: the contrast of each text as the browser colours it, with what is behind it.
pub(super) fn contrast(browser: &Browser, scheme: Scheme) -> Vec<String> {
    const SCRIPT: &str = r"
        const numbers = colour => { const n = colour.match(/[\d.]+/g).map(Number); return n.length > 3 && n[3] === 0 ? null : n; };
        const light = colour => colour.slice(0, 3).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
        const behind = e => {
            const tile = e.closest('g.tile');
            if (tile) return numbers(getComputedStyle(tile.querySelector('rect')).fill);
            for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor); if (c) return c; }
            return [255, 255, 255];
        };
        document.querySelectorAll('details').forEach(d => d.open = true);
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
        let texts = 0;
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const e = node.parentElement;
            if (!node.data.trim() || !e.checkVisibility() || ['TITLE', 'DESC', 'SCRIPT', 'STYLE'].includes(e.tagName.toUpperCase())) continue;
            texts += 1;
            const style = getComputedStyle(e), front = numbers(e.closest('svg') ? style.fill : style.color);
            const [a, b] = [light(front), light(behind(e))].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
            if (ratio < 4.5) found.push(`${ratio.toFixed(2)}: ${node.data.trim().slice(0, 40)}`);
        }
        document.querySelectorAll('details').forEach(d => d.open = false);
        return [texts, found.slice(0, 10)];";
    let found = browser.evaluate(SCRIPT);
    let mut faults: Vec<String> = found[1]
        .as_array()
        .into_iter()
        .flatten()
        .map(|text| format!("contrast in {}: {text}", scheme.word()))
        .collect();
    if found[0].as_u64().unwrap_or_default() == 0 {
        faults.push("no text was found".to_owned());
    }
    faults
}

/// On paper what is folded is there, and nothing is scrolled to.
pub(super) fn paper(browser: &Browser) -> Vec<String> {
    const FOLDED: &str = "return [...document.querySelectorAll('details > :not(summary)')].map(e => e.checkVisibility() && e.getBoundingClientRect().height > 0)";
    let all = |value: &Value, expected: bool| {
        value
            .as_array()
            .is_some_and(|all| all.iter().all(|shown| *shown == expected))
    };
    let mut faults = Vec::new();
    if !all(&browser.evaluate(FOLDED), false) {
        faults.push("on a screen something is unfolded from the start".to_owned());
    }
    browser.devtools("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    let on_paper = browser.evaluate(FOLDED);
    if !all(&on_paper, true) {
        faults.push(format!("on paper something stays folded: {on_paper}"));
    }
    let cut = "return [...document.querySelectorAll('pre, .scroll')].filter(e => getComputedStyle(e).overflowX !== 'visible').length";
    if browser.evaluate(cut) != 0 {
        faults.push("on paper something would have to be scrolled".to_owned());
    }
    faults
}
