//! Why something cannot go on, and how that is reported.

use std::error::Error;

pub(crate) type Fault = Box<dyn Error + Send + Sync>;

/// An error with what caused it: `client error (Connect): tcp connect error: Connection refused`.
/// What an error repeats of its cause stands once.
pub(crate) fn told(fault: &dyn Error) -> String {
    let mut text = fault.to_string();
    let mut cause = fault.source();
    while let Some(fault) = cause {
        let of_cause = fault.to_string();
        if !text.ends_with(&of_cause) {
            text = format!("{text}: {of_cause}");
        }
        cause = fault.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Layered(&'static str, Option<Box<Layered>>);

    impl fmt::Display for Layered {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(self.0)
        }
    }

    impl Error for Layered {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn causes_are_told_once() {
        let rejected = Layered("rejected", None);
        let connect = Layered("connect", Some(Box::new(rejected)));
        let service = Layered("service: connect", Some(Box::new(connect)));
        assert_eq!(told(&service), "service: connect: rejected");
    }
}
