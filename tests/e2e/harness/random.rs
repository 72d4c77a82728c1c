//! Random numbers that come again: everything follows from a seed, which is printed.

/// The environment variable that sets the seed.
const SEED: &str = "WINDLASS_E2E_SEED";
/// The seed without it: the same in each run, so that a change that fails is the change that broke
/// it. Other numbers search further.
const USUAL: u64 = 1;

/// Texts that one writer or another treats in its own way.
pub(crate) const TEXTS: &[&str] = &[
    "plain",
    "two words",
    "true",
    "null",
    "~",
    "1_000",
    "0x1f",
    "1e3",
    "2026-01-02",
    "yes",
    "=",
    "key: value",
    "a #comment",
    "# comment",
    "- item",
    " leading",
    "trailing ",
    "a\ttab",
    "\"quoted\"",
    "it's",
    "back\\slash",
    "[a, b]",
    "{a: b}",
    "&anchor",
    "*alias",
    "!tag",
    "%directive",
    "@at",
    "`tick`",
    "|",
    ">",
    "<a href=\"x\">&amp;</a>",
    "{{ ds.meta_data.hostname }}",
    "{% if a %}b{% endif %}",
    "$HOME ${NAME} $(date)",
    "ünï – ©",
    "日本語",
    "😀",
    "\u{a0}nbsp\u{200b}",
    "\u{feff}bom\u{2028}",
    "line\nbreak",
    "line\n\n  indented\n",
    "\nfirst",
    "crlf\r\nend",
    "\u{7}bell",
    "https://example.com/a?b=c&d=e#f",
    "a rather long text that goes on and on until it is longer than the width at which the usual writers break their lines, and further",
    "anextremelylongwordthatnobodycanbreakanywherebecausethereisnoblankinitatallnotevenattheendwhichisherenowatlast",
];

/// Numbers by SplitMix64.
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// With the seed of the environment, or the usual one; says which.
    pub(crate) fn announced() -> Random {
        let given = std::env::var(SEED).ok().map(|seed| {
            seed.parse()
                .unwrap_or_else(|_| panic!("{SEED}={seed} is not a number"))
        });
        let seed = given.unwrap_or(USUAL);
        println!("  random with {SEED}={seed}");
        Random { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit, which is not 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("smaller than a usize")
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of some values.
    pub(crate) fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())].clone()
    }
}
