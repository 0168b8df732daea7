;; -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: Apache-2.0
;; Run by the test in batch mode: opens $HANDOFF_CASE, waits for its findings, applies the preferred repair, saves, and
;; waits for them to go.  What happened goes to standard output, a line each.
(require 'cl-lib)
(package-initialize)
(load (getenv "HANDOFF_PLUGIN"))
(setq handoff-command (list (getenv "HANDOFF_BINARY") "lsp" "--cuda-path=none")
      lsp-auto-guess-root t
      lsp-restart 'ignore
      lsp-enable-file-watchers nil
      lsp-session-file (expand-file-name "session" (file-name-directory (getenv "HANDOFF_CASE")))
      lsp-diagnostics-provider :none
      lsp-headerline-breadcrumb-enable nil
      lsp-keep-workspace-alive nil)

(defun handoff-test-errors ()
  "Diagnostics of the current buffer that are errors."
  (cl-remove-if-not (lambda (diagnostic) (eq (lsp:diagnostic-severity? diagnostic) 1))
                    (apply #'append (cl-loop for list being the hash-values of (lsp-diagnostics t) collect list))))

(defun handoff-test-wait (what condition)
  "Wait until CONDITION holds; fail with WHAT after a minute."
  (let ((limit (+ (float-time) 60)))
    (while (not (funcall condition))
      (when (> (float-time) limit)
        (princ (format "failed: no %s\n" what))
        (kill-emacs 1))
      (accept-process-output nil 0.02))))

(find-file (getenv "HANDOFF_CASE"))
(lsp)
(handoff-test-wait "error after opening" #'handoff-test-errors)
(let* ((finding (car (handoff-test-errors)))
       (line (lsp:position-line (lsp:range-start (lsp:diagnostic-range finding)))))
  (princ (format "found: line %d: %s\n" (1+ line) (lsp:diagnostic-message finding)))
  (goto-char (point-min))
  (forward-line line)
  (let ((repair (cl-find-if (lambda (action) (eq t (gethash "isPreferred" action)))
                            (lsp-request "textDocument/codeAction"
                                         (list :textDocument (lsp--text-document-identifier)
                                               :range (lsp--region-to-range (line-beginning-position) (line-end-position))
                                               :context (list :diagnostics (vector)))))))
    (princ (format "action: %s\n" (lsp:code-action-title repair)))
    (lsp-execute-code-action repair)))
(save-buffer)
(handoff-test-wait "clean document after the repair" (lambda () (null (handoff-test-errors))))
(princ "repaired\n")
(kill-emacs 0)
