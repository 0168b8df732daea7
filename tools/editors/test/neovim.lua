-- SPDX-License-Identifier: Apache-2.0
-- Run by the test: opens $HANDOFF_CASE, waits for its findings, applies the preferred repair, saves, and waits for them to go.
-- What happened goes to $HANDOFF_LOG, a line each.
local log = assert(io.open(vim.env.HANDOFF_LOG, "w"))
local function say(text) log:write(text .. "\n") log:flush() end
local start
local function seconds() return string.format("%.2f s", (vim.loop.hrtime() - start) / 1e9) end

local function fail(text)
  say("failed: " .. text)
  for _, message in ipairs(vim.lsp.get_active_clients()) do say("client: " .. message.name) end
  vim.cmd("cquit")
end

local function wait_for(what, condition)
  if not vim.wait(60000, condition, 10) then fail("no " .. what) end
end

local function errors()
  return vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })
end

local function ask(method, params)
  local replies = vim.lsp.buf_request_sync(0, method, params, 60000) or {}
  for _, reply in pairs(replies) do
    if reply.error then fail(method .. ": " .. vim.inspect(reply.error)) end
    return reply.result
  end
end

vim.cmd("filetype on")  -- off without a configuration
dofile(vim.env.HANDOFF_PLUGIN)
start = vim.loop.hrtime()
vim.cmd("edit " .. vim.fn.fnameescape(vim.env.HANDOFF_CASE))
wait_for("error after opening", function() return #errors() > 0 end)
local finding = errors()[1]
say("opened: " .. seconds())
say("found: line " .. (finding.lnum + 1) .. ": " .. finding.source .. ": " .. finding.code .. ": " .. finding.message)

local lenses = ask("textDocument/codeLens", { textDocument = vim.lsp.util.make_text_document_params() })
say("lens: " .. lenses[1].command.title)
vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, 0 })
local hover = ask("textDocument/hover", vim.lsp.util.make_position_params())
say("hover: " .. hover.contents.value:gsub("\n", " "))

local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(0) }
for _, action in ipairs(ask("textDocument/codeAction", params)) do
  say("action: " .. action.title)
  if action.isPreferred then
    local client = vim.lsp.get_active_clients()[1]
    vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
    break
  end
end
if not vim.bo.modified then fail("no repair was applied") end
start = vim.loop.hrtime()
vim.cmd("write")
wait_for("clean document after the repair", function() return #errors() == 0 end)
say("repaired: " .. seconds())
start = vim.loop.hrtime()
vim.cmd("write")
local published = false
local handler = vim.lsp.handlers["textDocument/publishDiagnostics"]
vim.lsp.handlers["textDocument/publishDiagnostics"] = function(...)
  published = true
  return handler(...)
end
wait_for("answer to a save without a change", function() return published end)
say("saved again: " .. seconds())
say("lens: " .. ask("textDocument/codeLens", { textDocument = vim.lsp.util.make_text_document_params() })[1].command.title)
vim.cmd("qall!")
