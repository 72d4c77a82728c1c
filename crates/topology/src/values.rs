//! The values of JSON patches and `enabledIf`: Cluster API's `patches/inline`.

use serde_json::Value;

use super::class::Class;
use super::lookup;
use super::made::{PLAN_LESS, TOO_LARGE};
use super::part::Part;
use super::scope::Scope;
use super::{PATCH_FAILS, SIZE_EXCEEDED, TEMPLATE_UNSUPPORTED};
use windlass_go_template::Fault;
use windlass_go_text::quote;
use windlass_go_yaml::yaml;
use windlass_source::budget::{Budget, Exceeded};
use windlass_source::diag::{Diagnostic, Place, Quoted, Rule};

/// Why a patch has no value: Cluster API's words, and what to tell the user.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) rule: &'static Rule,
    pub(super) upstream: String,
    pub(super) message: String,
    pub(super) place: Place,
    pub(super) help: String,
}

impl Failure {
    fn new(
        part: &Part<'_>,
        upstream: String,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Failure {
            rule: &PATCH_FAILS,
            upstream,
            message: message.into(),
            place: part.place(),
            help: help.into(),
        }
    }

    /// The run has no steps left.
    pub(super) fn of_budget(part: &Part<'_>, spent: Exceeded) -> Self {
        Failure::new(
            part,
            String::new(),
            spent.to_string(),
            "plan fewer clusters at once",
        )
    }

    /// The values of all patches are more than what a run holds.
    pub(super) fn too_large(part: &Part<'_>) -> Self {
        Failure {
            rule: &SIZE_EXCEEDED,
            ..Failure::new(part, String::new(), TOO_LARGE, PLAN_LESS)
        }
    }

    pub(super) fn within(self, step: &str) -> Self {
        // What Cluster API would do is not said of what is rejected here alone.
        let upstream = if self.upstream.is_empty() {
            String::new()
        } else {
            format!("{step}: {}", self.upstream)
        };
        Failure { upstream, ..self }
    }

    /// The finding; `upstream` is the whole message.
    pub(super) fn finding(self, upstream: &str) -> Diagnostic {
        Diagnostic::of(self.rule, self.message)
            .at(self.place)
            .help(self.help)
            .upstream(upstream)
    }
}

/// An operation of a patch with its value, and the part of the class that it is.
pub(crate) type Ready<'o> = (Part<'o>, Value);

/// What `enabledIf` of a patch gives for a template: the patch is on with `true`, and with nothing
/// else. Without `enabledIf` it is on.
///
/// # Errors
/// When it cannot be rendered.
pub(super) fn condition(
    class: &Class<'_>,
    enabled_if: &Part<'_>,
    scope: &Scope<'_>,
    budget: &Budget,
) -> Result<Value, Failure> {
    if enabled_if.text().is_empty() {
        return Ok(Value::Bool(true));
    }
    if prints_a_certificate(enabled_if.text()) {
        return Ok(Value::Null);
    }
    rendered(class, enabled_if, scope, budget)
        .map_err(|failure| failure.within("failed to calculate value for enabledIf"))
}

/// Whether all that a template gives is a new certificate: it is another one each time, and never
/// `true`.
fn prints_a_certificate(template: &str) -> bool {
    let action = template
        .trim()
        .strip_prefix("{{")
        .and_then(|action| action.strip_suffix("}}"));
    let name = action
        .and_then(|action| action.split_whitespace().next())
        .unwrap_or_default();
    let makers = [
        "genCA",
        "genCAWithKey",
        "genSelfSignedCert",
        "genSelfSignedCertWithKey",
        "genSignedCert",
        "genSignedCertWithKey",
    ];
    makers.contains(&name)
        && action.is_some_and(|action| !action.contains(['|', '(', '{', '}', '/']))
}

/// The value that an operation adds or puts.
///
/// # Errors
/// When there is none.
pub(super) fn value(
    class: &Class<'_>,
    operation: &Part<'_>,
    scope: &Scope<'_>,
    budget: &Budget,
) -> Result<Value, Failure> {
    let (value, from) = (operation.field("value"), operation.field("valueFrom"));
    let (variable, template) = (from.field("variable"), from.field("template"));
    let wrong = |reason: &str, help: &str| {
        let upstream = format!("failed to calculate value: {reason}");
        Err(Failure::new(
            operation,
            upstream,
            "the operation has not exactly one value",
            help,
        ))
    };
    match (value.is_there(), from.is_there(), !variable.text().is_empty(), !template.text().is_empty()) {
        (false, false, ..) => wrong("neither .value nor .valueFrom are set", "write `value` or `valueFrom`"),
        (true, true, ..) => wrong("both .value and .valueFrom are set", "remove one of `value` and `valueFrom`"),
        (true, ..) => Ok(value.value.clone()),
        (_, _, false, false) => wrong(
            ".valueFrom is set, but neither .valueFrom.variable nor .valueFrom.template are set",
            "write `variable` or `template` below `valueFrom`",
        ),
        (_, _, true, true) => wrong(
            ".valueFrom is set, but both .valueFrom.variable and .valueFrom.template are set",
            "remove one of `variable` and `template`",
        ),
        (_, _, true, false) => lookup::find(|name| scope.get(name), variable.text()).cloned().map_err(|reason| {
            let upstream = format!("failed to calculate value: {reason}");
            let name = variable.text().split(['[', '.']).next().unwrap_or_default();
            let help = format!(
                "give it a value or a default, or turn the patch off with `enabledIf: '{{{{ hasKey . \"{name}\" }}}}'`; {}",
                known(scope)
            );
            Failure::new(&variable, upstream, format!("the patch takes a value that there is not: {reason}", reason = Quoted(&reason)), help)
        }),
        (_, _, false, true) => {
            rendered(class, &template, scope, budget).map_err(|failure| failure.within("failed to calculate value for template"))
        }
    }
}

/// The variables that have a value.
fn known(scope: &Scope<'_>) -> String {
    let names: Vec<&str> = scope.names().take(12).collect();
    format!("here are {}", names.join(", "))
}

/// What it costs to show a variable to a template.
const STEPS: usize = 16;

/// What a template gives, read as YAML.
fn rendered(
    class: &Class<'_>,
    template: &Part<'_>,
    scope: &Scope<'_>,
    budget: &Budget,
) -> Result<Value, Failure> {
    let text = template.text();
    budget
        .charge(STEPS * scope.len())
        .map_err(|spent| Failure::of_budget(template, spent))?;
    let output = class
        .render(text, scope.data(), budget)
        .map_err(|fault| broken(template, &fault))?;
    yaml::first(&output, budget).map_err(|reason| {
        let shown = windlass_go_text::quote::quote_bytes(&output, false);
        let upstream = format!("failed to unmarshal rendered template: {shown}: error converting YAML to JSON: {reason}");
        let help = "quote what is text with `{{ … | quote }}`, and write lists and mappings as YAML or with `toJson`";
        Failure::new(template, upstream, format!("what the template gives is not YAML: {reason}", reason = Quoted(&reason)), help)
    })
}

/// A template that gives nothing.
fn broken(template: &Part<'_>, fault: &Fault) -> Failure {
    let source = quote(template.text());
    let (upstream, line, message) = match fault {
        Fault::Parse(rejection) => (
            format!("failed to parse template: {source}: {fault}"),
            rejection.line,
            rejection.reason.clone(),
        ),
        Fault::Execution(rejection) => (
            format!("failed to render template: {source}: {fault}"),
            rejection.line,
            rejection.reason.clone(),
        ),
        other => (String::new(), 1, other.to_string()),
    };
    let line = u32::try_from(line).unwrap_or(u32::MAX);
    let place = template.object.line_place(&template.path(), line);
    if upstream.is_empty() {
        let message = format!("the template is not rendered here: {message}");
        let help = "take the value from a variable, or write a simpler template".to_owned();
        return Failure {
            rule: &TEMPLATE_UNSUPPORTED,
            upstream,
            message,
            place,
            help,
        };
    }
    let help = "templates have the functions of Go's text/template and of sprig; what may be absent is tested with `if`";
    Failure {
        place,
        ..Failure::new(
            template,
            upstream,
            format!("the template fails: {message}"),
            help,
        )
    }
}
