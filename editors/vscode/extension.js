// Starts `windlass lsp` and connects it with the editor.

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

// The files that `windlass lint` and `windlass validate` read, and the settings.
const documentSelector = [
  { scheme: "file", language: "yaml" },
  { scheme: "untitled", language: "yaml" },
  { scheme: "file", language: "json" },
  { scheme: "file", pattern: "**/windlass.toml" },
];

async function start() {
  const command = vscode.workspace.getConfiguration("windlass").get("path");
  const server = { command, args: ["lsp"], transport: TransportKind.stdio };
  client = new LanguageClient("windlass", "Windlass", server, { documentSelector });
  try {
    await client.start();
  } catch (error) {
    const message = `${command} lsp cannot be started: ${error.message}`;
    vscode.window.showErrorMessage(`${message}. Install windlass or set "windlass.path".`);
  }
}

async function stop() {
  if (client?.isRunning()) {
    await client.stop();
  }
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(vscode.commands.registerCommand("windlass.restart", restart));
  await start();
}

module.exports = { activate, deactivate: stop };
