;;; handoff.el --- Handoff in lsp-mode, beside clangd  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: Apache-2.0
;;; Commentary:
;; Needs lsp-mode.  Load it from init.el; M-x lsp in a .cu file starts it.
;;; Code:
(require 'lsp-mode)

(defcustom handoff-command '("handoff" "lsp")
  "The language server with its arguments."
  :type '(repeat string)
  :group 'lsp-mode)

(define-derived-mode handoff-ptx-mode prog-mode "PTX")
(add-to-list 'auto-mode-alist '("\\.cuh?\\'" . c++-mode))
(add-to-list 'auto-mode-alist '("\\.ptx\\'" . handoff-ptx-mode))
(add-to-list 'lsp-language-id-configuration '("\\.cuh?\\'" . "cuda-cpp"))
(add-to-list 'lsp-language-id-configuration '(handoff-ptx-mode . "ptx"))

(lsp-register-client
 (make-lsp-client
  :new-connection (lsp-stdio-connection (lambda () handoff-command))
  :activation-fn (lsp-activate-on "cuda-cpp" "ptx")
  :add-on? t
  :server-id 'handoff))

(provide 'handoff)
;;; handoff.el ends here
