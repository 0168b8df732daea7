-- SPDX-License-Identifier: Apache-2.0
-- Neovim 0.7 to 0.10: put this file into plugin/ of your configuration.
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = "*.ptx",
  callback = function() vim.bo.filetype = "ptx" end,
})

local client_id
vim.api.nvim_create_autocmd("FileType", {
  pattern = { "cuda", "ptx" },
  callback = function(event)
    client_id = client_id or vim.lsp.start_client({
      name = "handoff",
      cmd = { "handoff", "lsp" },
      root_dir = vim.fn.getcwd(),
      on_exit = function() client_id = nil end,
      on_attach = function(_, buffer)
        -- The verdict above each kernel.
        vim.api.nvim_create_autocmd({ "BufEnter", "BufWritePost", "InsertLeave" }, {
          buffer = buffer,
          callback = function() vim.lsp.codelens.refresh() end,
        })
      end,
    })
    vim.lsp.buf_attach_client(event.buf, client_id)
  end,
})
