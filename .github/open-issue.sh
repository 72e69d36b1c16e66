#!/usr/bin/env bash
# open-issue.sh TITLE REPORT: open an issue with the end of a report, or add it to the open issue of that title.
set -euo pipefail
title=$1 report=$2
body=$(mktemp)
{
  echo "Run: $GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID"
  echo
  echo '```'
  if [[ -f $report ]]; then tail -c 20000 "$report" | sed 's/\x1b\[[0-9;]*m//g; s/```/` ` `/g'; else echo "no report was written"; fi
  echo
  echo '```'
} >"$body"
export GH_REPO=$GITHUB_REPOSITORY
number=$(gh issue list --state open --limit 200 --json number,title --jq ".[] | select(.title == \"$title\") | .number" | head -n 1)
if [[ -n $number ]]; then
  gh issue comment "$number" --body-file "$body"
else
  gh issue create --title "$title" --body-file "$body"
fi
