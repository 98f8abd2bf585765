'use strict';
// The one place that knows where this folder is; CommonJS, so that both builds can load it.
exports.luaDir = __dirname;
