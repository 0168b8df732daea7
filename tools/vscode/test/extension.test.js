// SPDX-License-Identifier: Apache-2.0
// The extension with the real language client and the real server; only the editor is a stub. HANDOFF_BINARY is the program.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { makeStub, kToken } = require("./vscode_stub.js");

const binary = process.env.HANDOFF_BINARY;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "handoff-vscode-"));
const settings = { path: binary, arguments: ["--cuda-path=none"] };
const { vscode, state, TextDocument } = makeStub(settings);
const extension = require("../src/extension.js");

test.after(() => fs.rmSync(folder, { recursive: true }));

/** The next diagnostics of a file that are as wanted. */
function diagnosticsOf(uri, isWanted) {
  const now = state.diagnostics.get(uri.toString());
  if (now && isWanted(now)) return Promise.resolve(now);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no such diagnostics of ${uri}: ${JSON.stringify(state.messages)}`)), 60_000);
    const subscription = state.onDiagnostics.event(({ uri: other, list }) => {
      if (other !== uri.toString() || !isWanted(list)) return;
      clearTimeout(timer);
      subscription.dispose();
      resolve(list);
    });
  });
}

/** A client applies edits from the back, so that positions stay true. */
function applied(text, edits) {
  const lines = text.split("\n");
  const offset = (at) => lines.slice(0, at.line).reduce((sum, line) => sum + line.length + 1, 0) + at.character;
  const sorted = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
  for (const edit of sorted) text = text.slice(0, offset(edit.range.start)) + edit.newText + text.slice(offset(edit.range.end));
  return text;
}

test("arguments of the program come from the settings", () => {
  const from = (values) => extension.argumentsFrom({ get: (name, fallback) => values[name] ?? fallback }, [{ uri: { fsPath: "/w" } }]);
  assert.deepStrictEqual(from({}), ["lsp"]);
  assert.deepStrictEqual(from({ arguments: ["--arch=sm_80", "--", "-DX"], buildFolder: "${workspaceFolder}/out" }), ["lsp", "--arch=sm_80", "-p", "/w/out", "--", "-DX"]);
});

test("findings come, a repair makes them go", { skip: binary ? false : "HANDOFF_BINARY is not set" }, async () => {
  const source = path.join(__dirname, "../../../testcases/barrier-only-handoff/bad_row_exchange.cu");
  const file = path.join(folder, "row_exchange.cu");
  fs.copyFileSync(source, file);
  const document = new TextDocument(vscode.Uri.file(file), "cuda-cpp", fs.readFileSync(file, "utf8"));

  const context = { subscriptions: [] };
  await extension.activate(context);
  vscode.workspace.textDocuments.push(document);
  await state.events.onDidOpenTextDocument.fire(document);
  const found = await diagnosticsOf(document.uri, (list) => list.length > 0);
  const finding = found.find((one) => one.source === "handoff" && one.severity === vscode.DiagnosticSeverity.Error);
  assert.ok(finding, JSON.stringify(found));

  const lenses = await state.providers.codeLens.provideCodeLenses(document, kToken);
  assert.match(lenses[0].command.title, /^handoff: violation/);
  const actions = await state.providers.codeAction.provideCodeActions(document, finding.range, { diagnostics: [finding], only: undefined, triggerKind: 1 }, kToken);
  const repair = actions.find((action) => action.isPreferred);
  assert.ok(repair, JSON.stringify(actions.map((action) => action.title)));
  assert.ok(actions.some((action) => /NOLINT/.test(action.title)));

  const explain = actions.find((action) => /explain/.test(action.title)).command;
  await state.commands.get(explain.command)(...explain.arguments);
  const preview = state.shown.find(([name]) => name === "markdown.showPreview");
  assert.match(state.contents.handoff.provideTextDocumentContent(preview[1]), new RegExp(explain.arguments[0]));

  const before = document.text;
  document.text = applied(before, repair.edit.sets[0].edits);
  document.version = 2;
  assert.notStrictEqual(document.text, before);
  const lines = before.split("\n");
  await state.events.onDidChangeTextDocument.fire({
    document, reason: undefined,
    contentChanges: [{ range: new vscode.Range(0, 0, lines.length - 1, lines.at(-1).length), rangeLength: before.length, text: document.text }],
  });
  fs.writeFileSync(file, document.text);
  await state.events.onDidSaveTextDocument.fire(document);
  await diagnosticsOf(document.uri, (list) => list.every((one) => one.severity !== vscode.DiagnosticSeverity.Error));
  const verdict = await state.providers.codeLens.provideCodeLenses(document, kToken);
  assert.match(verdict[0].command.title, /^handoff: verified/);
  await extension.deactivate();
});
