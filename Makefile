# Without make, type the same yourself: python3 -m labs demo 04
PYTHON ?= python3
LABS = @"$(PYTHON)" -m labs

# What is not said on the command line is empty, whatever the environment calls by the same name.
STEP =
FROM =
FILE =
ALL =
INPUT =
BREAK =
TEXT =
JSON =
CAST =
OTLP =
OPEN =
RECORD =
PROVIDER =
MODEL =
BASE_URL =
TASK =
SHOW =
NAME =
PEERS =
SERVE =
TEST =

# A sentence may hold anything: neither make nor the shell reads what is in it.
override INPUT := $(value INPUT)
export INPUT
# The folder is on Python's path because make runs in it.
unexport PYTHONSAFEPATH

.PHONY: help
help:
	$(LABS) help

.PHONY: demo
demo:
	$(LABS) demo "$(STEP)"

.PHONY: chat
chat:
	$(LABS) chat "$(STEP)" --record="$(RECORD)" --provider="$(PROVIDER)" --model="$(MODEL)" --base_url="$(BASE_URL)"

.PHONY: live
live:
	$(LABS) live "$(STEP)" --base_url="$(BASE_URL)" --model="$(MODEL)"

.PHONY: diff
diff:
	$(LABS) diff "$(STEP)" --from="$(FROM)" --file="$(FILE)" --all="$(ALL)"

.PHONY: trace
trace:
	$(LABS) trace "$(STEP)" --input="$$INPUT" --break="$(BREAK)" --file="$(FILE)" --text="$(TEXT)" --json="$(JSON)" --cast="$(CAST)" --otlp="$(OTLP)" --open="$(OPEN)"

.PHONY: lab
lab:
	$(LABS) lab "$(STEP)"

.PHONY: check
check:
	$(LABS) check "$(STEP)" "$(TASK)"

.PHONY: hint
hint:
	$(LABS) hint "$(STEP)" "$(TASK)"

.PHONY: solution
solution:
	$(LABS) solution "$(STEP)" "$(TASK)" --show="$(SHOW)"

.PHONY: reset
reset:
	$(LABS) reset "$(STEP)"

.PHONY: break
break:
	$(LABS) break "$(STEP)" "$(NAME)"

.PHONY: rules
rules:
	$(LABS) rules "$(STEP)" --input="$$INPUT"

.PHONY: test
test:
	$(LABS) test "$(STEP)"

.PHONY: lint
lint:
	$(LABS) lint

.PHONY: conform
conform:
	$(LABS) conform --file="$(FILE)"

.PHONY: conformance
conformance:
	$(LABS) conformance

.PHONY: snapshots
snapshots:
	$(LABS) snapshots "$(STEP)" --all="$(ALL)"

.PHONY: bench
bench:
	$(LABS) bench --peers="$(PEERS)"

.PHONY: site
site:
	$(LABS) site --serve="$(SERVE)" --test="$(TEST)"

.PHONY: screenshot
screenshot:
	$(LABS) screenshot
