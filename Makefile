# Every target is one line; without make, type the same line yourself: python -m shared ...
PYTHON ?= python3
SHARED = @$(PYTHON) -m shared

help: ; $(SHARED) help
demo: ; $(SHARED) demo "$(STEP)"
chat: ; $(SHARED) chat "$(STEP)"
diff: ; $(SHARED) diff "$(STEP)" --from "$(FROM)" --file "$(FILE)" --all "$(ALL)"
trace: ; $(SHARED) trace "$(STEP)" --input "$(INPUT)" --break "$(BREAK)" --text "$(TEXT)" --open "$(OPEN)"
lab: ; $(SHARED) lab "$(STEP)"
check: ; $(SHARED) check "$(STEP)" "$(TASK)"
hint: ; $(SHARED) hint "$(STEP)" "$(TASK)"
solution: ; $(SHARED) solution "$(STEP)" "$(TASK)" --show "$(SHOW)"
reset: ; $(SHARED) reset "$(STEP)"
break: ; $(SHARED) break "$(STEP)" "$(NAME)"
rules: ; $(SHARED) rules "$(STEP)" "$(INPUT)"
test: ; $(SHARED) test "$(STEP)"
snapshots: ; $(SHARED) snapshots "$(STEP)"
lint: ; $(SHARED) lint
bench: ; $(SHARED) bench
screenshot: ; $(SHARED) screenshot

.PHONY: help demo chat diff trace lab check hint solution reset break rules test snapshots lint bench screenshot
