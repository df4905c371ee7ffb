//! `--shard`: the part of a campaign that this process executes.

use std::num::NonZeroU32;
use std::str::FromStr;

use trackbed_archive::Shard;

/// The argument on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardArgument {
    /// Explicit numbers.
    Given(Shard),
    /// The shard from the cluster's environment; the number of shards is for clusters that do not give it.
    Auto(Option<NonZeroU32>),
}

impl FromStr for ShardArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ShardArgument, String> {
        let of = |count: &str| count.trim().parse().map_err(|_| format!("write {AUTO}"));
        match text.split_once('/') {
            None if text == "auto" => Ok(ShardArgument::Auto(None)),
            Some(("auto", count)) => Ok(ShardArgument::Auto(Some(of(count)?))),
            _ => text
                .parse()
                .map(ShardArgument::Given)
                .map_err(|why: String| format!("{why}; or {AUTO}")),
        }
    }
}

impl ShardArgument {
    /// The shard; `variable` looks up environment variables.
    pub fn resolve(self, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let count = match self {
            ShardArgument::Given(shard) => return Ok(shard),
            ShardArgument::Auto(count) => count,
        };
        let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
        // sbatch(1): the indices of an array may start anywhere and have a step. For lists with other gaps,
        // Slurm does not list the indices; tasks of an array that are submitted again look like such a list.
        let slurm = || {
            let id = number("SLURM_ARRAY_TASK_ID")?;
            let first = number("SLURM_ARRAY_TASK_MIN")?;
            let step = number("SLURM_ARRAY_TASK_STEP").unwrap_or(1).max(1);
            let there = NonZeroU32::new(number("SLURM_ARRAY_TASK_COUNT")?)?;
            let last = u64::from(first) + u64::from(step) * u64::from(there.get() - 1);
            let is_last = |told: u32| u64::from(told) == last;
            let is_even = number("SLURM_ARRAY_TASK_MAX").is_none_or(is_last);
            let is_whole = count.is_none_or(|count| count == there);
            let place = id.checked_sub(first)? / step;
            Shard::new(place, there).filter(|_| is_even && is_whole)
        };
        // Kubernetes gives an indexed job its index from 0, but not the number of indices.
        let kubernetes = || Shard::new(number("JOB_COMPLETION_INDEX")?, count?);
        slurm().or_else(kubernetes).ok_or_else(|| {
            let without_count = match (number("JOB_COMPLETION_INDEX"), count) {
                (Some(index), None) => format!(
                    "this is number {index} of a Kubernetes job, which does not tell the number of \
                     shards; write --shard auto/N"
                ),
                (Some(index), Some(count)) => format!(
                    "index {index} of the Kubernetes job is not below {count}, the number of shards; \
                     write completions: {count}"
                ),
                _ if number("SLURM_ARRAY_TASK_ID").is_some() => {
                    "Slurm does not tell which shard this task is; write it out, for example --shard \
                     \"$SLURM_ARRAY_TASK_ID/8\" in an array from 1 to 8"
                        .to_owned()
                }
                _ => "no shard in the environment: neither SLURM_ARRAY_TASK_ID and \
                      SLURM_ARRAY_TASK_COUNT nor JOB_COMPLETION_INDEX is set; write the shard out, for \
                      example --shard 3/8"
                    .to_owned(),
            };
            format!("--shard auto: {without_count}")
        })
    }
}

const AUTO: &str = "auto in a Slurm array, or auto/8 in a Kubernetes job";

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let find = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        text.parse::<ShardArgument>()?.resolve(find).map(|shard| shard.to_string())
    }

    #[test]
    fn a_shard_is_explicit_or_read_from_the_environment() {
        assert_eq!(resolve("3/8", &[]).unwrap(), "3/8");
        let slurm = |id, min, step| {
            let count = ("SLURM_ARRAY_TASK_COUNT", "4");
            let id = ("SLURM_ARRAY_TASK_ID", id);
            let [min, step] = [("SLURM_ARRAY_TASK_MIN", min), ("SLURM_ARRAY_TASK_STEP", step)];
            resolve("auto", &[id, min, count, step])
        };
        assert_eq!(slurm("0", "0", "1").unwrap(), "1/4");
        assert_eq!(slurm("4", "1", "1").unwrap(), "4/4");
        assert_eq!(slurm("20", "10", "5").unwrap(), "3/4");
        assert!(slurm("9", "0", "1").is_err(), "there is no such shard");
        // Tasks 3 and 7 of eight, submitted again.
        let list = [("ID", "3"), ("MIN", "3"), ("MAX", "7"), ("COUNT", "2"), ("STEP", "1")];
        let list = list.map(|(name, value)| (format!("SLURM_ARRAY_TASK_{name}"), value));
        let list: Vec<(&str, &str)> = list.iter().map(|(name, v)| (name.as_str(), *v)).collect();
        for text in ["auto", "auto/8"] {
            let why = resolve(text, &list).unwrap_err();
            assert!(why.contains("\"$SLURM_ARRAY_TASK_ID/8\""), "{why}");
        }
        assert_eq!(resolve("auto/8", &[("JOB_COMPLETION_INDEX", "7")]).unwrap(), "8/8");
    }

    #[test]
    fn a_missing_number_of_shards_is_asked_for() {
        let why = resolve("auto", &[("JOB_COMPLETION_INDEX", "7")]).unwrap_err();
        assert!(why.contains("number 7") && why.contains("auto/N"), "{why}");
        assert!(resolve("auto", &[]).unwrap_err().contains("--shard 3/8"));
        assert!(
            resolve("auto/8", &[("JOB_COMPLETION_INDEX", "8")]).unwrap_err().contains("below 8")
        );
        for text in ["", "auto/0", "auto/x", "automatic", "3", "3/0"] {
            assert!(resolve(text, &[]).unwrap_err().contains("auto/8"), "{text}");
        }
        for text in ["0/8", "9/8"] {
            assert!(resolve(text, &[]).unwrap_err().contains("of 8: write 1 to 8"), "{text}");
        }
    }
}
