// SPDX-License-Identifier: Apache-2.0
// As much of the module "vscode" as the language client touches, without an editor: documents are opened, changed and saved by
// the test; diagnostics and registered providers are kept where the test can see them.
"use strict";

const Module = require("node:module");
const { fileURLToPath, pathToFileURL } = require("node:url");

class Disposable {
  constructor(run) { this.run = run; }
  static from(...all) { return new Disposable(() => all.forEach((one) => one.dispose())); }
  dispose() { this.run?.(); this.run = undefined; }
}

class EventEmitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener, self) => {
      const bound = self ? listener.bind(self) : listener;
      this.listeners.add(bound);
      return new Disposable(() => this.listeners.delete(bound));
    };
  }
  fire(value) { return Promise.all([...this.listeners].map((listener) => listener(value))); }
  dispose() { this.listeners.clear(); }
}

class Uri {
  constructor(text) { this.text = text; this.scheme = text.slice(0, text.indexOf(":")); }
  static parse(text) { return new Uri(text); }
  static file(path) { return new Uri(pathToFileURL(path).href); }
  get fsPath() { return this.scheme === "file" ? fileURLToPath(this.text) : this.text; }
  get path() { return this.fsPath; }
  toString() { return this.text; }
}

class Position {
  constructor(line, character) { this.line = line; this.character = character; }
  isBefore(other) { return this.line < other.line || (this.line === other.line && this.character < other.character); }
}
class Range {
  constructor(a, b, c, d) {
    this.start = typeof a === "number" ? new Position(a, b) : a;
    this.end = typeof a === "number" ? new Position(c, d) : b;
  }
}
class Location { constructor(uri, range) { this.uri = uri; this.range = range; } }
class Diagnostic { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } }
class DiagnosticRelatedInformation { constructor(location, message) { Object.assign(this, { location, message }); } }
class CodeActionKind {
  constructor(value) { this.value = value; }
  append(part) { return new CodeActionKind(this.value ? `${this.value}.${part}` : part); }
  static Empty = new CodeActionKind("");
  static QuickFix = new CodeActionKind("quickfix");
}
class CodeAction { constructor(title, kind) { Object.assign(this, { title, kind }); } }
class CodeLens { constructor(range, command) { Object.assign(this, { range, command }); } }
class Hover { constructor(contents, range) { Object.assign(this, { contents: [].concat(contents), range }); } }
class MarkdownString {
  constructor(value = "") { this.value = value; }
  appendMarkdown(text) { this.value += text; return this; }
  appendCodeblock(text) { this.value += text; return this; }
}
class CancellationError extends Error {}
class TextEdit { constructor(range, newText) { Object.assign(this, { range, newText }); } }
class WorkspaceEdit {
  constructor() { this.sets = []; }
  add(uri, range, newText) {
    const last = this.sets.find((one) => one.uri.toString() === uri.toString());
    if (last) last.edits.push(new TextEdit(range, newText));
    else this.sets.push({ uri, edits: [new TextEdit(range, newText)] });
  }
  replace(uri, range, text) { this.add(uri, range, text); }
  insert(uri, at, text) { this.add(uri, new Range(at, at), text); }
  delete(uri, range) { this.add(uri, range, ""); }
  set(uri, edits) { this.sets.push({ uri, edits: edits.map((edit) => (Array.isArray(edit) ? edit[0] : edit)) }); }
}
class TextDocument {
  constructor(uri, languageId, text) { Object.assign(this, { uri, languageId, text, version: 1, isClosed: false }); }
  get fileName() { return this.uri.fsPath; }
  getText() { return this.text; }
}

const kNever = () => new Disposable(() => {});
const kToken = { isCancellationRequested: false, onCancellationRequested: kNever };

/** What nobody asked for by name: a class without behaviour, an event that never fires, or an enum. */
function anything(known) {
  return new Proxy(known, {
    get(target, name) {
      if (name in target || typeof name !== "string" || name === "then") return target[name];
      if (/^(register|on[A-Z]|create)/.test(name)) return (target[name] = kNever);
      return (target[name] = new Proxy(class {}, { get: (type, key) => (key in type ? type[key] : typeof key === "string" ? key.length : undefined) }));
    },
  });
}

function makeStub(settings) {
  const events = Object.fromEntries(["onDidOpenTextDocument", "onDidChangeTextDocument", "onDidSaveTextDocument", "onDidCloseTextDocument", "onDidChangeConfiguration"]
    .map((name) => [name, new EventEmitter()]));
  const state = { diagnostics: new Map(), onDiagnostics: new EventEmitter(), providers: {}, commands: new Map(), messages: [], shown: [], contents: {}, events };
  const provider = (kind) => (selector, value) => { state.providers[kind] = value; return new Disposable(() => delete state.providers[kind]); };
  const output = { append() {}, appendLine(line) { state.messages.push(line); }, clear() {}, show() {}, dispose() {}, info() {}, error() {}, warn() {}, trace() {}, debug() {} };
  const workspace = anything({
    textDocuments: [], notebookDocuments: [], workspaceFolders: undefined,
    getConfiguration: () => ({ get: (name, fallback) => (name in settings ? settings[name] : fallback), has: () => false, inspect: () => undefined }),
    createFileSystemWatcher: () => ({ onDidCreate: kNever, onDidChange: kNever, onDidDelete: kNever, dispose() {} }),
    registerTextDocumentContentProvider: (scheme, value) => { state.contents[scheme] = value; return kNever(); },
    ...Object.fromEntries(Object.entries(events).map(([name, emitter]) => [name, emitter.event])),
  });
  const vscode = anything({
    version: "1.90.0", Disposable, EventEmitter, Uri, Position, Range, Location, Diagnostic, DiagnosticRelatedInformation, CodeActionKind, CodeAction, CodeLens,
    Hover, MarkdownString, CancellationError, TextEdit, WorkspaceEdit, workspace,
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
    ProgressLocation: { SourceControl: 1, Window: 10, Notification: 15 },
    CancellationTokenSource: class { token = kToken; cancel() {} dispose() {} },
    env: { appName: "stub", language: "en" },
    extensions: { getExtension: () => undefined, all: [] },
    commands: {
      registerCommand: (name, run) => { state.commands.set(name, run); return new Disposable(() => state.commands.delete(name)); },
      executeCommand: async (name, ...args) => { state.shown.push([name, ...args]); return state.commands.get(name)?.(...args); },
    },
    window: anything({
      visibleTextEditors: [], activeTextEditor: undefined, tabGroups: { all: [], onDidChangeTabs: kNever, onDidChangeTabGroups: kNever, close: async () => true },
      createOutputChannel: () => output,
      withProgress: (options, task) => task({ report() {} }, kToken),
      showErrorMessage: async (text) => { state.messages.push(text); },
      showInformationMessage: async (text) => { state.messages.push(text); },
      showWarningMessage: async (text) => { state.messages.push(text); },
    }),
    languages: anything({
      match: (selector, document) => (selector.some((one) => one.language === document.languageId) ? 10 : 0),
      createDiagnosticCollection: () => ({
        set(uri, list) { state.diagnostics.set(uri.toString(), list ?? []); state.onDiagnostics.fire({ uri: uri.toString(), list: list ?? [] }); },
        get: (uri) => state.diagnostics.get(uri.toString()), has: (uri) => state.diagnostics.has(uri.toString()),
        delete: (uri) => state.diagnostics.delete(uri.toString()), clear() { state.diagnostics.clear(); }, dispose() { state.diagnostics.clear(); },
        forEach: (run) => state.diagnostics.forEach((list, uri) => run(Uri.parse(uri), list)),
      }),
      registerHoverProvider: provider("hover"), registerCodeActionsProvider: provider("codeAction"), registerCodeLensProvider: provider("codeLens"),
    }),
  });
  const resolve = Module._resolveFilename;
  Module._resolveFilename = (request, ...rest) => (request === "vscode" ? "vscode" : resolve.call(Module, request, ...rest));
  require.cache.vscode = { id: "vscode", filename: "vscode", loaded: true, exports: vscode };
  return { vscode, state, TextDocument };
}

module.exports = { makeStub, kToken };
