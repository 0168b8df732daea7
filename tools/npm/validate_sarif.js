// SPDX-License-Identifier: Apache-2.0
// Validates SARIF logs against the official schema: node validate_sarif.js MODULES FILE...
// MODULES is a node_modules folder with the packages of package.json. Prints a line for each mistake; exit code 1
// when there is one, 2 when it cannot be told.
'use strict';

const fs = require('fs');
const path = require('path');

const [modules, ...files] = process.argv.slice(2);
if (files.length === 0) {
  console.error('usage: node validate_sarif.js MODULES FILE...');
  process.exit(2);
}

const Ajv = require(path.resolve(modules, 'ajv/dist/2020')).default;
const addFormats = require(path.resolve(modules, 'ajv-formats')).default;
const schemaFile = path.resolve(modules, '@microsoft/sarif-multitool-linux/sarif-2.1.0.json');
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
const validate = ajv.compile(JSON.parse(fs.readFileSync(schemaFile, 'utf8').replace(/^\uFEFF/, '')));

let isValid = true;
for (const file of files) {
  if (validate(JSON.parse(fs.readFileSync(file, 'utf8')))) continue;
  isValid = false;
  for (const { instancePath, message, params } of validate.errors) {
    console.log(`${file}: ${instancePath}: ${message} ${JSON.stringify(params)}`);
  }
}
process.exit(isValid ? 0 : 1);
