-- SPDX-License-Identifier: Apache-2.0
-- Neovim 0.11 and newer: put this file into lsp/ of your configuration, and vim.lsp.enable("handoff") into init.lua.
return {
  cmd = { "handoff", "lsp" },
  filetypes = { "cuda", "ptx" },
  root_markers = { ".handoff.yaml", "compile_commands.json", ".git" },
}
