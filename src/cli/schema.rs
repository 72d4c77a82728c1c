//! `schema KIND`: JSON Schemas of what we read and write. A new one is a row in `SCHEMAS`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::Value;

use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use super::{
    diff, images, inspect, lint, migrate, outlook, release, release_check, release_diff,
    release_image, render, repository, rules, size, topology, validate, vars, why,
};
use windlass_provider as provider;
use windlass_report::json;

pub(super) const VERB: Verb = Verb {
    words: &["schema"],
    operands: "[KIND]",
    summary: "the JSON Schema of what windlass reads or writes, for editors and programs",
    family: None,
    group: Group::Reference,
    manner: Manner::Ours,
    examples: &["schema", "schema finding"],
    action: Action::of::<Arguments>(),
};

struct Schema {
    kind: &'static str,
    make: fn() -> Value,
}

/// All schemas, by name.
static SCHEMAS: &[Schema] = &[
    // `diff -o json`.
    Schema {
        kind: "diff",
        make: json::schema_of::<json::Envelope<diff::NodeDiffReport>>,
    },
    // One entry of `findings` in every report.
    Schema {
        kind: "finding",
        make: json::finding_schema,
    },
    // `images -o json`.
    Schema {
        kind: "images",
        make: json::schema_of::<json::Envelope<images::ImagesReport>>,
    },
    // `inspect -o json`.
    Schema {
        kind: "inspect",
        make: json::schema_of::<json::Envelope<inspect::InspectReport>>,
    },
    // `lint -o json`.
    Schema {
        kind: "lint",
        make: json::schema_of::<json::Envelope<lint::LintReport>>,
    },
    // `migrate -o json`.
    Schema {
        kind: "migrate",
        make: json::schema_of::<json::Envelope<migrate::MigrateReport>>,
    },
    // `outlook -o json`.
    Schema {
        kind: "outlook",
        make: json::schema_of::<json::Envelope<outlook::OutlookReport>>,
    },
    // provider.yaml.
    Schema {
        kind: "provider",
        make: provider::json_schema,
    },
    // `release build -o json`.
    Schema {
        kind: "release-build",
        make: json::schema_of::<json::Envelope<release::BuildReport>>,
    },
    // `release check -o json`.
    Schema {
        kind: "release-check",
        make: json::schema_of::<json::Envelope<release_check::CheckReport>>,
    },
    // `release diff -o json`.
    Schema {
        kind: "release-diff",
        make: json::schema_of::<json::Envelope<release_diff::DiffReport>>,
    },
    // `release image -o json`.
    Schema {
        kind: "release-image",
        make: json::schema_of::<json::Envelope<release_image::ImageReport>>,
    },
    // `render -o json`.
    Schema {
        kind: "render",
        make: json::schema_of::<json::Envelope<render::RenderReport>>,
    },
    // `repository configmap -o json`.
    Schema {
        kind: "repository-config-map",
        make: json::schema_of::<json::Envelope<repository::ConfigMapReport>>,
    },
    // `repository doctor -o json`.
    Schema {
        kind: "repository-doctor",
        make: json::schema_of::<json::Envelope<repository::DoctorReport>>,
    },
    // `repository images -o json`.
    Schema {
        kind: "repository-images",
        make: json::schema_of::<json::Envelope<repository::ImagesReport>>,
    },
    // `repository list -o json`.
    Schema {
        kind: "repository-list",
        make: json::schema_of::<json::Envelope<repository::ListReport>>,
    },
    // `rules -o json`.
    Schema {
        kind: "rules",
        make: json::schema_of::<json::Envelope<rules::RulesReport>>,
    },
    // `size -o json`.
    Schema {
        kind: "size",
        make: json::schema_of::<json::Envelope<size::SizeReport>>,
    },
    // `topology plan -o json`.
    Schema {
        kind: "topology-plan",
        make: json::schema_of::<json::Envelope<topology::PlanReport>>,
    },
    // `topology variables -o json`.
    Schema {
        kind: "topology-variables",
        make: json::schema_of::<json::Envelope<topology::VariablesReport>>,
    },
    // `validate -o json`.
    Schema {
        kind: "validate",
        make: json::schema_of::<json::Envelope<validate::ValidateReport>>,
    },
    // `vars -o json`.
    Schema {
        kind: "vars",
        make: json::schema_of::<json::Envelope<vars::VarsReport>>,
    },
    // `why -o json`.
    Schema {
        kind: "why",
        make: json::schema_of::<json::Envelope<why::WhyReport>>,
    },
];

/// Every schema with its name.
pub fn schemas() -> impl Iterator<Item = (&'static str, Value)> {
    SCHEMAS.iter().map(|schema| (schema.kind, (schema.make)()))
}

#[derive(Args)]
struct Arguments {
    /// What the schema describes; without it the kinds are listed
    #[arg(value_name = "KIND", value_parser = kinds())]
    kind: Option<String>,
}

fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(SCHEMAS.iter().map(|schema| schema.kind))
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        match SCHEMAS
            .iter()
            .find(|schema| Some(schema.kind) == self.kind.as_deref())
        {
            Some(schema) => context.out(&text(&(schema.make)())),
            None => SCHEMAS
                .iter()
                .for_each(|schema| context.out(&format!("{}\n", schema.kind))),
        }
        Ok(Exit::Clean)
    }
}

/// A schema as it is printed.
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}
