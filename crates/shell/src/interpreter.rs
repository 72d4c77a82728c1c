//! The first line of a script, as the kernel reads it (Linux, `fs/binfmt_script.c`).

/// The interpreter line (`#!`) of a script, split into path and argument as the kernel splits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interpreter<'t> {
    /// The path of the program, as the kernel looks for it.
    pub(crate) path: &'t str,
    /// All that follows it, which the program gets as one argument.
    pub(crate) argument: &'t str,
}

impl<'t> Interpreter<'t> {
    /// Of a text that begins with `#!`. The kernel takes the line up to `\n`, so that a `\r`
    /// belongs to its last word.
    pub fn of(text: &'t str) -> Option<Self> {
        let line = text
            .strip_prefix("#!")?
            .split('\n')
            .next()
            .unwrap_or_default()
            .trim_matches([' ', '\t']);
        let (path, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        Some(Interpreter {
            path,
            argument: argument.trim_start_matches([' ', '\t']),
        })
    }

    /// What a `\r` at the end of the line leads to, if there is one.
    pub fn carriage_return(self) -> Option<String> {
        let name = |text: &str| text.trim_end_matches('\r').to_owned();
        match self {
            Interpreter { argument, path }
                if argument.ends_with('\r') && path.ends_with("/env") =>
            {
                Some(format!(
                    "env looks for `{}\\r`, and the interpreter will not be found",
                    name(argument)
                ))
            }
            Interpreter { argument, path } if argument.ends_with('\r') => Some(format!(
                "{path} gets the argument `{}\\r`, which it does not know",
                name(argument)
            )),
            Interpreter { path, .. } if path.ends_with('\r') => Some(format!(
                "the interpreter will not be found: the kernel looks for `{}\\r`",
                name(path)
            )),
            _ => None,
        }
    }

    /// Whether it is a POSIX shell.
    pub fn is_shell(self) -> bool {
        let is_shell = |word: &str| {
            matches!(
                word.trim_end_matches('\r').rsplit('/').next(),
                Some("sh" | "bash" | "dash")
            )
        };
        is_shell(self.path)
            || (self.path.ends_with("/env") && self.argument.split_whitespace().any(is_shell))
    }

    /// Whether the shell ends at the first command that fails (`-e`).
    pub fn is_strict(self) -> bool {
        self.argument
            .strip_prefix('-')
            .is_some_and(|flags| !flags.starts_with('-') && flags.contains('e'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carriage_return_belongs_to_the_last_word() {
        let said = |text| Interpreter::of(text).and_then(Interpreter::carriage_return);
        assert!(said("#!/bin/sh\r\na").is_some_and(
            |said| said.contains("will not be found") && said.contains("`/bin/sh\\r`")
        ));
        assert!(
            said("#!/usr/bin/env bash\r\n").is_some_and(
                |said| said.contains("will not be found") && said.contains("`bash\\r`")
            )
        );
        assert!(said("#! /bin/sh -e\r\n").is_some_and(|said| said.contains("argument `-e\\r`")));
        for text in ["#!/bin/sh\na\r\n", "a\r\n", "#!/bin/sh \n", ""] {
            assert_eq!(said(text), None, "{text:?}");
        }
    }

    #[test]
    fn shells_are_told_from_others() {
        let of = |text| Interpreter::of(text).map(|found| (found.is_shell(), found.is_strict()));
        assert_eq!(of("#!/bin/sh -eu\n"), Some((true, true)));
        assert_eq!(of("#!/usr/bin/env -S bash\n"), Some((true, false)));
        assert_eq!(of("#!/usr/bin/python3\n"), Some((false, false)));
        assert_eq!(of("# !/bin/sh\n"), None);
    }
}
