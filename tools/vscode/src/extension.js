// SPDX-License-Identifier: Apache-2.0
// Starts `handoff lsp` for CUDA and PTX documents, and shows what its commands return.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const kScheme = "handoff"; // of documents that show a rule page or the limits of a kernel

/** @type {LanguageClient | undefined} */
let client;

/** The texts behind URIs of kScheme; the newest ones, since tabs are closed and never say so. */
const texts = new Map();
const kMaxTexts = 32;

/** Arguments of the program, from the settings. */
function argumentsFrom(settings, folders) {
  const result = ["lsp", ...settings.get("arguments", [])];
  const build = settings.get("buildFolder", "");
  if (build === "") return result;
  const folder = folders && folders.length > 0 ? folders[0].uri.fsPath : "";
  // Behind "--" stand flags of the compiler.
  const end = result.includes("--") ? result.indexOf("--") : result.length;
  result.splice(end, 0, "-p", build.replace("${workspaceFolder}", folder));
  return result;
}

/** Shows Markdown in a tab of its own, rendered. */
async function showText(title, text) {
  const uri = vscode.Uri.parse(`${kScheme}:/${encodeURIComponent(title)}.md`);
  texts.delete(uri.toString());
  texts.set(uri.toString(), text);
  if (texts.size > kMaxTexts) texts.delete(texts.keys().next().value);
  changed.fire(uri);
  await vscode.commands.executeCommand("markdown.showPreview", uri);
}

const changed = new vscode.EventEmitter();

/** "handoff.explainRule" with ["missing-wait"] -> "missing-wait" */
function titleOf(command, args) {
  return command === "handoff.explainRule" ? String(args[0]) : "kernel";
}

function makeClient() {
  const settings = vscode.workspace.getConfiguration("handoff");
  const server = { command: settings.get("path", "handoff"), args: argumentsFrom(settings, vscode.workspace.workspaceFolders) };
  return new LanguageClient("handoff", "Handoff", server, {
    documentSelector: ["cuda-cpp", "cuda", "ptx"].map((language) => ({ scheme: "file", language })),
    initializationOptions: { checkOnChange: settings.get("checkOnChange", false), showsCommandResults: true },
    synchronize: {
      fileEvents: vscode.workspace.createFileSystemWatcher("**/{.handoff.yaml,compile_commands.json,*.{h,hh,hpp,hxx,cuh,inl}}"),
    },
    middleware: {
      executeCommand: async (command, args, next) => {
        const text = await next(command, args);
        if (typeof text === "string") await showText(titleOf(command, args), text);
        return text;
      },
    },
  });
}

async function restart() {
  if (client) await client.dispose();
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`Handoff does not start: ${error.message}. Is the setting "handoff.path" right?`);
  }
}

async function activate(context) {
  context.subscriptions.push(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(kScheme, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? "",
    }),
    vscode.commands.registerCommand("handoff.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("handoff")) return restart();
    }),
  );
  await restart();
}

async function deactivate() {
  if (client) await client.dispose();
  client = undefined;
}

module.exports = { activate, deactivate, argumentsFrom };
