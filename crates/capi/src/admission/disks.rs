//! Partitions fit on their disk.

use serde_json::Value;

use super::{Judge, items};
use windlass_schema::Violation;

impl Judge {
    pub(super) fn disks(&self, spec: &Value, out: &mut Vec<Violation>) {
        let Some(disks) = spec.get("diskSetup") else {
            return;
        };
        for (index, partition) in items(disks, "partitions").iter().enumerate() {
            let percentages = items(partition, "diskLayout")
                .iter()
                .map(|part| part.get("percentage").and_then(Value::as_i64).unwrap_or(0));
            let sum = percentages.fold(0_i64, i64::saturating_add);
            if sum > 100 {
                let at = self
                    .path
                    .field("diskSetup")
                    .field("partitions")
                    .index(index)
                    .field("diskLayout");
                out.push(Violation::invalid(
                    at,
                    &Value::from(sum),
                    "the sum of all partition percentages must not be greater than 100",
                ));
            }
        }
    }
}
