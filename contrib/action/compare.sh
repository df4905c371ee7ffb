#!/usr/bin/env bash
# The step of action.yml, which passes its inputs as variables. Exit status: 0 nothing is worse, 1 something is
# worse or a check of a run failed, 2 bad input or the tool failed, 3 the runs are too few to decide.
set -euo pipefail
work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/trackbed.XXXXXX")

# Downloads the program, and checks it against the release's checksums.
download() {
    local name from="https://github.com/trackbed/trackbed/releases/download/v$VERSION"
    name=trackbed-$VERSION-linux-$(uname -m)
    curl --fail --silent --show-error --location --remote-name-all --output-dir "$work" "$from/$name.tar.gz" "$from/SHA256SUMS"
    (cd "$work" && sha256sum --check --ignore-missing --strict SHA256SUMS && tar -xzf "$name.tar.gz") >&2
    echo "$work/$name/trackbed"
}

# Builds the current folder and runs its scenario, or takes the results that the build's command has measured; they
# go to $1.
run() {
    if [ -n "$BUILD" ]; then bash -euo pipefail -c "$BUILD" >&2; fi
    # A program that the build makes is another one on each side.
    if [ -n "$PROGRAM" ]; then program=$(realpath "$(command -v "$PROGRAM")"); fi
    if [ -n "$RESULTS" ]; then
        cp -r "$RESULTS" "$1"
        return
    fi
    # Arguments are separated by blanks.
    # shellcheck disable=SC2086
    "$program" run "$SCENARIO" --runs "$RUNS" --seed "$SEED" --out "$1" --quiet $ARGUMENTS > /dev/null
}

if [ -z "$SCENARIO$RESULTS" ]; then
    echo "Trackbed: neither the input scenario nor results is set; set one of them" >&2
    exit 2
fi
if [ -z "$PROGRAM" ]; then
    program=$(download)
elif [ -z "$BUILD" ]; then
    PROGRAM=$(realpath "$(command -v "$PROGRAM")")
fi
head=$work/head
run "$head"

if [ -z "$BASELINE" ]; then
    git fetch --quiet --depth 1 origin "$BASE"
    git worktree add --quiet --detach "$work/tree" FETCH_HEAD
    trap 'git worktree remove --force "$work/tree"' EXIT
    BASELINE=$work/base
    if [ -z "$RESULTS" ] && [ -e "$SCENARIO" ] && [ ! -e "$work/tree/$SCENARIO" ]; then
        echo "Trackbed: $SCENARIO is new: $BASE has nothing to compare with." | tee -a "$GITHUB_STEP_SUMMARY"
        printf 'directory=%s\nverdict=ok\n' "$head" >> "$GITHUB_OUTPUT"
        exit 0
    fi
    (cd "$work/tree" && run "$BASELINE")
fi

words=(compare "$BASELINE" "$head" --margin "$MARGIN")
if [ "$PROOF" = true ]; then words=(compare "$BASELINE" "$head" --no-worse-than "$MARGIN"); fi
status=0
"$program" "${words[@]}" > "$work/table" 2> "$work/errors" || status=$?
cat "$work/errors" >&2
case "$status" in
    0) verdict=ok ;;
    1) verdict=worse ;;
    3) verdict=undecided ;;
    *) exit "$status" ;;
esac
printf 'directory=%s\nverdict=%s\n' "$head" "$verdict" >> "$GITHUB_OUTPUT"
{
    # shellcheck disable=SC2016
    printf '### Trackbed: `%s` compared with `%s`: %s\n\n' "${SCENARIO:-$RESULTS}" "$BASE" "$verdict"
    printf '%s\n\n```text\n' "$(head -n 1 "$work/table")"
    tail -n +3 "$work/table"
    printf '```\n'
} > "$work/summary.md"
cat "$work/summary.md" >> "$GITHUB_STEP_SUMMARY"
cat "$work/table"
if [ "$COMMENT" = true ] && [ -n "$PULL_REQUEST" ]; then
    gh pr comment "$PULL_REQUEST" --edit-last --create-if-none --body-file "$work/summary.md"
fi
exit "$status"
