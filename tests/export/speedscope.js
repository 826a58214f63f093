#!/usr/bin/env node
// SPDX-License-Identifier: GPL-3.0-or-later
//
// speedscope.js PACKAGE FILE...
//
// What speedscope's own importer makes of the files: one line of JSON for each,
// with the importer's name for the format, and for each profile its name, its
// total and the self weight of every frame by "name file:line". PACKAGE is the
// folder of the npm package.
//
// The package has the importer only inside the page's script. We run that
// script without its last statement, which draws the page, and ask for the
// module that the page would ask for when a file is dropped on it.
'use strict'
const fs = require('fs')
const path = require('path')
const vm = require('vm')

function fail(text) {
	console.error(`speedscope.js: ${text}`)
	process.exit(1)
}

function loadImporter(folder) {
	const release = path.join(folder, 'dist', 'release')
	const page = fs.readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name))
	if (!page) fail(`no script of the page in ${release}`)
	const text = fs.readFileSync(path.join(release, page), 'utf8')
	const table = /([\w$]+)=\{\};[\w$]+\(\1,\{[^}]*importProfilesFromArrayBuffer:/.exec(text)
	if (!table) fail('the script has no table of importers')
	const name = table[1].replace(/\$/g, '\\$')
	const opening = new RegExp(`\\(\\(?\\)?=>\\(([\\w$]+)\\(\\),${name}\\)\\)`).exec(text)
	const drawing = text.lastIndexOf('console.log(`speedscope v')
	if (!opening || drawing < 0) fail('the script is not built as expected')
	const messages = []
	const nothing = () => {}
	const element = {
		style: {}, setAttribute: nothing, appendChild: nothing, addEventListener: nothing, getContext: nothing,
	}
	const window = {
		addEventListener: nothing, matchMedia: () => ({ matches: false, addEventListener: nothing, addListener: nothing }),
		location: { hash: '', href: '', protocol: 'file:' }, localStorage: { getItem: () => null, setItem: nothing },
		navigator: { userAgent: '', platform: '' }, devicePixelRatio: 1,
		document: { createElement: () => element, body: element, head: element, addEventListener: nothing },
		console: { ...console, log: line => messages.push(String(line)) },
		TextDecoder, TextEncoder, setTimeout, clearTimeout, atob, URL, requestAnimationFrame: nothing, performance,
		ArrayBuffer, Uint8Array,
	}
	window.window = window.self = window.globalThis = window
	const run = `${text.slice(0, drawing)};window.importer=(${opening[1]}(),${table[1]})})();`
	vm.runInNewContext(run, window, { filename: page })
	return { importer: window.importer, messages }
}

function describe(profile) {
	const frames = {}
	profile.forEachFrame(frame => {
		const place = frame.file ? ` ${frame.file}${frame.line ? `:${frame.line}` : ''}` : ''
		const key = frame.name + place
		frames[key] = (frames[key] || 0) + frame.getSelfWeight()
	})
	return { name: profile.getName(), total: profile.getTotalWeight(), frames }
}

async function main(folder, files) {
	if (!folder || !files.length) fail('give the package and files')
	const { importer, messages } = loadImporter(folder)
	for (const file of files) {
		messages.length = 0
		const bytes = fs.readFileSync(file)
		const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
		const group = await importer.importProfilesFromArrayBuffer(path.basename(file), buffer)
		if (!group) fail(`${file}: the importer does not know what this is`)
		console.log(JSON.stringify({ file, as: messages[messages.length - 1], profiles: group.profiles.map(describe) }))
	}
}

main(process.argv[2], process.argv.slice(3)).catch(error => fail(error.stack))
