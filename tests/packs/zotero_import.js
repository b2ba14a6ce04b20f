// Run one of Zotero's own import translators on a file, outside Zotero, and print its items as JSON.
//
//     node zotero_import.js TRANSLATOR FILE
//
// TRANSLATOR is a file of github.com/zotero/translators ("RIS.js", "Endnote XML.js"). It gets small
// stand-ins of the objects that Zotero gives to a translator. XML needs the npm package jsdom.
// The path of each attachment is resolved as Zotero's client does in `_parsePath` of
// chrome/content/zotero/xpcom/translation/translate_item.js: as a URL relative to the file, then
// as a path relative to its folder.
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");
const { pathToFileURL, fileURLToPath } = require("url");

const [translator, file] = process.argv.slice(2);
const text = fs.readFileSync(file, "utf-8");
const items = [];

class Item {
	constructor(itemType) {
		Object.assign(this, { itemType, creators: [], notes: [], tags: [], attachments: [] });
	}

	complete() {
		items.push(this);
	}
}

const utilities = {
	cleanAuthor(author, creatorType, useComma) {
		if (useComma && author.includes(",")) {
			const [lastName, ...first] = author.split(/, ?/);
			return { lastName, firstName: first.join(", "), creatorType };
		}
		const words = author.split(" ");
		return { lastName: words.pop(), firstName: words.join(" "), creatorType };
	},
	capitalizeName: (name) => name,
	cleanDOI: (doi) => (/10\.[0-9]{4,}\/[^\s]*[^\s.,]/.exec(doi) || [null])[0],
	cleanISSN: (issn) => issn,
	cleanTags: (value) => value,
	deepCopy: (value) => JSON.parse(JSON.stringify(value)),
	fieldIsValidForType: () => true,
	strToDate: (date) => ({ year: date.slice(0, 4) }),
	formatDate: (date) => date.year,
	text2html: (value) => value,
	trim: (value) => value.trim(),
	trimInternal: (value) => value.trim().replace(/\s+/g, " "),
	unescapeHTML: (value) => value.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&"),
	xpath: (node, expression) => {
		const document = node.ownerDocument || node;
		const found = document.evaluate(expression, node, null, 7, null);
		return Array.from({ length: found.snapshotLength }, (_, at) => found.snapshotItem(at));
	},
	xpathText(node, expression) {
		const found = this.xpath(node, expression);
		return found.length ? found.map((one) => one.textContent).join(", ") : null;
	},
	arrayDiff: (one, other) => one.filter((value) => !other.includes(value)),
};

function makeReader(lines) {
	let at = 0;
	return () => (at < lines.length ? lines[at++] : false);
}

const isXml = translator.includes("XML");
const { DOMParser, XMLSerializer } = isXml ? new (require("jsdom").JSDOM)("").window : {};

const Zotero = {
	Item,
	Utilities: utilities,
	debug() {},
	setProgress() {},
	getHiddenPref: () => undefined,
	read: makeReader(text.split(/\r\n|\r|\n/)),
	getXML: () => new DOMParser().parseFromString(text, "application/xml"),
};

function resolvePath(name) {
	const url = new URL(name, pathToFileURL(path.resolve(file)));
	if (url.protocol === "file:" && fs.existsSync(fileURLToPath(url))) return fileURLToPath(url);
	const relative = path.join(path.dirname(path.resolve(file)), name);
	return url.protocol === "file:" && fs.existsSync(relative) ? relative : "";
}

const source = fs.readFileSync(translator, "utf-8");
const code = source.slice(source.indexOf("\n}\n") + 3); // behind the header, which is JSON
const context = vm.createContext({ Zotero, Z: Zotero, ZU: utilities, DOMParser, XMLSerializer });
vm.runInContext(code, context);
Promise.resolve(vm.runInContext("doImport()", context)).then(() => {
	for (const item of items) {
		for (const one of item.attachments) one.resolved = one.path ? resolvePath(one.path) : "";
	}
	process.stdout.write(JSON.stringify(items));
});
