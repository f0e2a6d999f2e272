"""What a step may change of the step before it: one row a step, and all else is the same.

The chapter says of its own diffs what they change; this table says it of ours. test_contract.py
holds the steps to it, and says what to add for a new one.
"""

SAME, NEW, GONE, CHANGED = "same", "new", "gone", "changed"

# What may differ between two steps: whole files, or definitions of a changed module. Names that
# are no definitions: `__doc__`, the docstring of the module; ORDER, in which its definitions stand;
# REST, its other statements. Imports follow from what is defined, and are not looked at.
Row = dict[str, str | dict[str, str]]
ORDER, REST = "order", "other statements"

# Code that went to another file and did not change.
MOVED = {(4, 5): {"tools.py": {"tools/calc.py": ["OPERATION", "OPERATORS", "calculate"]}}}

CONTRACT: dict[tuple[int, int], Row] = {
    (3, 4): {
        "agent_loop.py": NEW,
        "demo.py": {
            "SCRIPT": CHANGED,
            "run_demo": CHANGED,
        },
        "fake_model.py": {
            "FakeModel": CHANGED,
            "Rule": CHANGED,
            "ScriptedCall": NEW,
            "match_key": CHANGED,
        },
        "harness_types.py": {
            "AssistantMessage": CHANGED,
            "ContentBlock": NEW,
            "HarnessEvent": NEW,
            "Message": CHANGED,
            "StopReason": CHANGED,
            "StreamEvent": CHANGED,
            "ToolCallAnnounced": NEW,
            "ToolCallContent": NEW,
            "ToolCallFinished": NEW,
            "ToolCallStarted": NEW,
            "ToolResultMessage": NEW,
            "TurnEnd": NEW,
            "TurnStart": NEW,
            "message_text": CHANGED,
            "tool_calls_of": NEW,
        },
        "main.py": {
            "chat": CHANGED,
            "known_words": CHANGED,
        },
        "render.py": {
            "compact_json": NEW,
            "render_events": NEW,
            "render_stream": GONE,
        },
        "rules.py": {
            "RULES": CHANGED,
        },
        "tests/scripted_model.py": NEW,
        "tests/test_agent_loop.py": NEW,
        "tests/test_calc.py": NEW,
        "tests/test_demo.py": {
            "test_what_people_see_and_what_the_model_sees": CHANGED,
        },
        "tests/test_fake_model.py": {
            "test_a_tool_call_is_announced_and_part_of_the_message": NEW,
            "test_calls_are_numbered_for_each_model_and_share_no_arguments": NEW,
            "test_the_last_message_is_the_match_key_whoever_it_is_from": CHANGED,
        },
        "tests/test_harness_types.py": {
            "WIRE_NAMES": CHANGED,
            "test_a_message_is_taken_apart_into_its_text_and_its_calls": NEW,
            "test_a_result_is_no_error_unless_it_says_so": NEW,
            "test_the_text_of_a_message_is_all_its_text_and_nothing_between": GONE,
        },
        "tests/test_main.py": {
            "WORDS": CHANGED,
        },
        "tests/test_render.py": {
            "DONE": NEW,
            "Endless": NEW,
            "WHOLE": GONE,
            "__doc__": CHANGED,
            "deep": NEW,
            "rendered": NEW,
            "test_a_call_that_is_no_json_is_shown_all_the_same": NEW,
            "test_a_stream_is_closed_when_the_screen_fails": CHANGED,
            "test_a_tool_call_is_compact_json_in_its_own_letters": NEW,
            "test_an_error_result_is_marked": NEW,
            "test_each_piece_is_on_the_screen_before_the_next_one_comes": CHANGED,
            "test_no_line_is_left_open": NEW,
            "test_nothing_that_a_model_or_a_tool_says_can_act_on_the_screen": NEW,
            "test_only_a_stream_that_ended_well_gives_a_message": GONE,
            "test_turns_are_numbered_and_an_announcement_is_not_shown": NEW,
            "test_words_of_a_model_cannot_act_on_the_screen": GONE,
        },
        "tools.py": NEW,
    },
    (4, 5): {
        "agent_loop.py": {
            "execute_tool_call": CHANGED,
            "run_agent_loop": CHANGED,
            "run_tool": NEW,
        },
        "demo.py": {
            "SCRIPT": CHANGED,
            "run_demo": CHANGED,
        },
        "harness_types.py": {
            "Context": CHANGED,
        },
        "main.py": {
            "chat": CHANGED,
            "main": CHANGED,
        },
        "note.txt": NEW,
        "rules.py": {
            "RULES": CHANGED,
        },
        "tests/scripted_model.py": {
            "VALUE": NEW,
            "answering_with": NEW,
            "registry_of": NEW,
            "start_loop": CHANGED,
        },
        "tests/test_calc.py": {
            "NUMBERS": NEW,
            "__doc__": CHANGED,
            "calc": NEW,
            "test_a_character_that_cannot_be_encoded_does_not_come_back": NEW,
            "test_an_endless_expression_is_refused_in_a_line": NEW,
            "test_an_expression_of_another_form_cannot_be_parsed": NEW,
            "test_an_operation_gives_the_answer_people_expect": GONE,
            "test_an_operation_gives_the_number_people_expect": NEW,
            "test_arguments_are_taken_as_they_come": GONE,
            "test_division_by_zero_is_an_error": NEW,
            "test_division_is_right_to_28_digits": NEW,
            "test_every_operation_but_division_is_exact": NEW,
        },
        "tests/test_harness_types.py": {
            "test_a_context_has_no_tools_unless_it_is_given_some_and_shares_none": NEW,
            "test_a_tool_may_import_these_types_since_they_import_no_tools": NEW,
            "test_all_types_have_slots_and_all_but_the_context_are_frozen": CHANGED,
        },
        "tests/test_main.py": {
            "OPENING": CHANGED,
            "WORDS": CHANGED,
            "test_the_specs_of_the_tools_are_in_the_context": NEW,
            "test_the_tools_work_in_the_folder_they_are_given_or_else_in_the_current_one": NEW,
        },
        "tests/test_read_file.py": NEW,
        "tests/test_registry.py": NEW,
        "tests/test_rules.py": NEW,
        "tests/test_run_tool.py": NEW,
        "tests/test_text_file.py": NEW,
        "tests/test_validate.py": NEW,
        "tools.py": GONE,
        "tools/__init__.py": NEW,
        "tools/calc.py": NEW,
        "tools/inside.py": NEW,
        "tools/quoting.py": NEW,
        "tools/read_file.py": NEW,
        "tools/registry.py": NEW,
        "tools/text_file.py": NEW,
        "tools/tool_types.py": NEW,
        "tools/validate.py": NEW,
    },
    (5, 6): {
        "SESSION_FORMAT.md": NEW,
        "demo.py": {
            "SCRIPT": CHANGED,
            "__doc__": CHANGED,
            "noon": NEW,
            "run_demo": CHANGED,
            "run_twice": NEW,
        },
        "fake_model.py": {
            "FakeModel": CHANGED,
            "Rule": CHANGED,
            "matching_rule": CHANGED,
        },
        "main.py": {
            "chat": CHANGED,
            "go_back": NEW,
            "main": CHANGED,
            "obeyed": NEW,
            "open_session": NEW,
            "save": NEW,
            "saved": NEW,
            "talk": NEW,
        },
        "options.py": NEW,
        "rules.py": {
            "RULES": CHANGED,
        },
        "sessions/__init__.py": NEW,
        "sessions/folder.py": NEW,
        "sessions/lock.py": NEW,
        "sessions/pairing.py": NEW,
        "sessions/reading.py": NEW,
        "sessions/session.py": NEW,
        "sessions/session_file.py": NEW,
        "sessions/tree.py": NEW,
        "sessions/tree_lines.py": NEW,
        "sessions/wire.py": NEW,
        "tests/test_fake_model.py": {
            "test_a_rule_may_ask_for_something_that_was_said_earlier": NEW,
            "test_numbers_of_calls_go_on_behind_those_of_an_earlier_process": NEW,
        },
        "tests/test_folder.py": NEW,
        "tests/test_killed.py": NEW,
        "tests/test_main.py": {
            "COMMANDS": NEW,
            "WORDS": CHANGED,
            "elsewhere": NEW,
            "lines_on_disk": NEW,
            "test_a_message_is_on_the_disk_before_the_model_is_asked_or_anybody_sees_it": NEW,
            "test_a_pipe_gets_its_answers_at_once": CHANGED,
            "test_a_second_start_answers_from_what_the_first_one_heard": NEW,
            "test_a_session_can_be_named_and_one_that_is_no_good_is_refused_in_a_line": NEW,
            "test_a_terminal_is_told_what_can_be_said_and_sees_the_model_type": CHANGED,
            "test_a_tree_without_words_says_so": NEW,
            "test_an_argument_that_nobody_expects_is_refused_in_one_line": CHANGED,
            "test_going_back_begins_a_branch_and_the_tree_shows_both": NEW,
            "test_leaving_a_run_that_is_saved_closes_the_stream_of_the_model": NEW,
            "test_nothing_is_kept_when_nobody_wants_that": NEW,
            "test_one_cannot_go_back_further_than_there_is": NEW,
            "test_options_that_make_no_sense_are_refused_in_one_line": NEW,
            "test_sessions_can_be_listed": NEW,
            "test_where_nothing_can_be_kept_the_conversation_goes_on_and_says_so_once": NEW,
            "test_where_there_is_nothing_to_go_on_with_it_says_so": NEW,
            "typed": NEW,
        },
        "tests/test_pairing.py": NEW,
        "tests/test_reading.py": NEW,
        "tests/test_rules.py": {
            "test_a_sentence_leads_through_its_rules": CHANGED,
            "test_what_was_calculated_is_known_later_in_the_same_conversation": NEW,
        },
        "tests/test_session.py": NEW,
        "tests/test_session_file.py": NEW,
        "tests/test_tree.py": NEW,
        "tests/test_wire.py": NEW,
        "tests/written.py": NEW,
    },
}
