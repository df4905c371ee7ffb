//! `--shard`: which share of a campaign this process does.

use std::num::NonZeroU32;
use std::str::FromStr;

use trackbed_lab::units::Shard;

/// As it is given on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardArgument {
    /// In numbers.
    Given(Shard),
    /// What the cluster's environment says, out of so many if it does not say that.
    Auto(Option<NonZeroU32>),
}

impl FromStr for ShardArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<ShardArgument, String> {
        let of = |count: &str| count.trim().parse().map_err(|_| HELP.to_owned());
        match text.split_once('/') {
            None if text == "auto" => Ok(ShardArgument::Auto(None)),
            Some(("auto", count)) => Ok(ShardArgument::Auto(Some(of(count)?))),
            _ => text.parse().map(ShardArgument::Given).map_err(|_| HELP.to_owned()),
        }
    }
}

impl ShardArgument {
    /// The share, where `variable` gives the values of environment variables.
    ///
    /// # Errors
    /// If the environment does not say it.
    pub fn resolve(self, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let count = match self {
            ShardArgument::Given(shard) => return Ok(shard),
            ShardArgument::Auto(count) => count,
        };
        let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
        // sbatch(1): indices of an array may begin anywhere and leave gaps.
        let slurm = || {
            let id = number("SLURM_ARRAY_TASK_ID")?;
            let first = number("SLURM_ARRAY_TASK_MIN").unwrap_or(0);
            let step = number("SLURM_ARRAY_TASK_STEP").unwrap_or(1).max(1);
            let count = count.or_else(|| NonZeroU32::new(number("SLURM_ARRAY_TASK_COUNT")?))?;
            Shard::new(id.checked_sub(first)? / step, count)
        };
        // Kubernetes tells an indexed job its index from 0, and not how many there are.
        let kubernetes = || Shard::new(number("JOB_COMPLETION_INDEX")?, count?);
        slurm().or_else(kubernetes).ok_or_else(|| {
            let without_count = match (number("JOB_COMPLETION_INDEX"), count) {
                (Some(index), None) => format!(
                    "this is number {index} of a Kubernetes job, and how many there are it is not \
                     told: write --shard auto/N"
                ),
                _ => "neither SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT nor JOB_COMPLETION_INDEX \
                      say which shard this is; write it out, for example --shard 3/8"
                    .to_owned(),
            };
            format!("--shard auto: {without_count}")
        })
    }
}

const HELP: &str = "write the shard and how many there are, for example 3/8 for the third of eight, or \
                    auto in a Slurm array and auto/8 in a Kubernetes job";

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let find = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        text.parse::<ShardArgument>()?.resolve(find).map(|shard| shard.to_string())
    }

    #[test]
    fn a_shard_is_given_or_what_the_cluster_says() {
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
        assert!(slurm("9", "0", "1").is_err(), "there is no such share");
        assert_eq!(resolve("auto/8", &[("JOB_COMPLETION_INDEX", "7")]).unwrap(), "8/8");
    }

    #[test]
    fn what_nobody_says_is_asked_for() {
        let why = resolve("auto", &[("JOB_COMPLETION_INDEX", "7")]).unwrap_err();
        assert!(why.contains("number 7") && why.contains("auto/N"), "{why}");
        assert!(resolve("auto", &[]).unwrap_err().contains("--shard 3/8"));
        for text in ["", "0/8", "auto/0", "auto/x", "automatic", "9/8", "3"] {
            assert!(resolve(text, &[]).unwrap_err().contains("3/8"), "{text}");
        }
    }
}
