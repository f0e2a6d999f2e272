// The files of a step in CodeMirror, each with its own undo.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

export class Editor {
  constructor(parent, onChange) {
    this.onChange = onChange;
    this.states = new Map();
    this.path = "";
    this.view = new EditorView({ parent });
    this.view.scrollDOM.tabIndex = 0; // A long line can be scrolled to by the keyboard, too.
  }

  extensions(path) {
    return [
      lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(),
      indentUnit.of("    "), syntaxHighlighting(classHighlighter), path.endsWith(".py") ? python() : [],
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.contentAttributes.of({ "aria-label": path }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.onChange(path, update.state.doc.toString());
      }),
    ];
  }

  /** Take other files; what was undone in them before is forgotten. */
  take() {
    this.states.clear();
    this.path = "";
  }

  open(path, text) {
    if (this.path) this.states.set(this.path, this.view.state);
    this.path = path;
    this.view.setState(this.states.get(path) ?? EditorState.create({ doc: text, extensions: this.extensions(path) }));
  }

  goTo(line, message) {
    const { doc } = this.view.state;
    const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
    this.view.dispatch(setDiagnostics(this.view.state, [{ from, to, severity: "error", message }]));
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.view.focus();
  }
}
