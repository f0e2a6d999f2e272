# Every target is one line; without make, type the same line yourself: python -m shared ...
PYTHON ?= python3
SHARED = @$(PYTHON) -m shared

help: ; $(SHARED) help
demo: ; $(SHARED) demo "$(STEP)"
chat: ; $(SHARED) chat "$(STEP)"
diff: ; $(SHARED) diff "$(STEP)" --from "$(FROM)" --file "$(FILE)" --all "$(ALL)"
test: ; $(SHARED) test "$(STEP)"
snapshots: ; $(SHARED) snapshots "$(STEP)"
lint: ; $(SHARED) lint
bench: ; $(SHARED) bench

.PHONY: help demo chat diff test snapshots lint bench
