#!/usr/bin/env node
// Starts the program from the package for this platform, which npm installed beside this one.
"use strict";
const { spawn } = require("node:child_process");
const { optionalDependencies } = require("./package.json");

const platform = `-${process.platform}-${process.arch}`;
const names = Object.keys(optionalDependencies).filter((name) => `${name}-`.includes(`${platform}-`));

function find() {
  for (const name of names) {
    try {
      return require.resolve(`${name}/interlock`);
    } catch {
      // It is not installed. Another one may be.
    }
  }
  const wanted = names.length ? `Install ${names.join(" or ")} beside it, or install again with optional dependencies.` : "Build it from source.";
  console.error(`error: interlock has no program for ${process.platform} ${process.arch} here\nHint: ${wanted}`);
  process.exit(1);
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to the program too; only a signal to this process alone is passed on.
const stay = () => {};
const pass = () => child.kill("SIGTERM");
process.on("SIGINT", stay).on("SIGTERM", pass);
child.on("error", (error) => {
  console.error(`error: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  process.off("SIGINT", stay).off("SIGTERM", pass);
  if (signal) process.kill(process.pid, signal);
  else process.exit(code);
});
