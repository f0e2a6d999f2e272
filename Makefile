# Every target is one line; without make, type the same line yourself: python3 -m shared ...
PYTHON ?= python3
SHARED = @$(PYTHON) -m shared

# What is not said on the command line is empty, whatever the environment calls by the same name.
STEP =
FROM =
FILE =
ALL =
INPUT =
BREAK =
TEXT =
OPEN =
TASK =
SHOW =
NAME =

help: ; $(SHARED) help
demo: ; $(SHARED) demo "$(STEP)"
chat: ; $(SHARED) chat "$(STEP)"
diff: ; $(SHARED) diff "$(STEP)" --from "$(FROM)" --file "$(FILE)" --all "$(ALL)"
trace: ; $(SHARED) trace "$(STEP)" --input="$$INPUT" --break "$(BREAK)" --text "$(TEXT)" --open "$(OPEN)"
lab: ; $(SHARED) lab "$(STEP)"
check: ; $(SHARED) check "$(STEP)" "$(TASK)"
hint: ; $(SHARED) hint "$(STEP)" "$(TASK)"
solution: ; $(SHARED) solution "$(STEP)" "$(TASK)" --show "$(SHOW)"
reset: ; $(SHARED) reset "$(STEP)"
break: ; $(SHARED) break "$(STEP)" "$(NAME)"
rules: ; $(SHARED) rules "$(STEP)" --input="$$INPUT"
test: ; $(SHARED) test "$(STEP)"
snapshots: ; $(SHARED) snapshots "$(STEP)"
lint: ; $(SHARED) lint
bench: ; $(SHARED) bench
screenshot: ; $(SHARED) screenshot

# A sentence may hold anything: neither make nor the shell reads what is in it.
override INPUT := $(value INPUT)
export INPUT

.PHONY: help demo chat diff trace lab check hint solution reset break rules test snapshots lint bench screenshot
