// Opens the page in headless Chromium, drags the cable and pushes the block, and compares what the page says with formulas.
//
//     node examples/web/test.mjs FOLDER_OF_THE_PAGE [FOLDER_FOR_SCREENSHOTS]
import { strict as assert } from "node:assert";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";

// From where the test is run, which has the package.
const { chromium } = createRequire(join(process.cwd(), "_.js"))("playwright-core");
const [folder, pictures] = process.argv.slice(2);
const types = { html: "text/html", wasm: "application/wasm" };
const server = createServer((request, response) => {
  const name = request.url === "/" ? "index.html" : request.url.slice(1);
  const type = types[name.split(".").pop()];
  if (type) {
    response.writeHead(200, { "content-type": type }).end(readFileSync(join(folder, name)));
  } else {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

const profile = mkdtempSync(join(tmpdir(), "page-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
  viewport: { width: 800, height: 1100 },
});
try {
  const page = browser.pages()[0] ?? await browser.newPage();
  const failures = [];
  page.on("pageerror", (error) => failures.push(String(error)));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForSelector("body[data-ready]", { state: "attached" });
  const number = async (id) => Number.parseFloat(await page.locator(`#${id}`).evaluate((output) => output.value));
  const picture = async (name) => pictures && page.screenshot({ path: join(pictures, `${name}.png`) });

  // The cable. Its view is 2.4 m wide, with its middle at (0, 0.15).
  const box = await page.locator("#cable").boundingBox();
  const pixel = (x, z) => [box.x + box.width * (0.5 + x / 2.4), box.y + box.height * 0.5 - (z - 0.15) * box.width / 2.4];
  const drag = async (from, to) => {
    await page.mouse.move(...pixel(...from));
    await page.mouse.down();
    await page.mouse.move(...pixel(...to), { steps: 8 });
    await page.mouse.up();
  };
  const near = (what, is, should, within) => {
    console.log(`${what}: ${is}, by formula ${should.toFixed(4)}`);
    assert(Math.abs(is - should) <= within, `${what}: ${is} instead of ${should}`);
  };
  // Coordinates of the mouse are rounded to pixels of 3 mm.
  const PIXEL = 2.4 / box.width, start = [0.9, -0.1];
  await picture("before");
  const slack = [await number("tension"), await number("length")];
  near("tension at first", slack[0], 200 * Math.max(0, slack[1] - 1.5), 0.02);

  // Down on the right: over both rollers, from tangent point to tangent point.
  const low = [0.8, -0.4];
  await drag(start, low);
  await picture("dragged");
  const [a, b] = [[-0.25, 0.1, 0.18], [0.35, 0.3, 0.12]];
  const far = (p, q) => Math.hypot(q[0] - p[0], q[1] - p[1]), along = (p, q) => Math.atan2(q[1] - p[1], q[0] - p[0]);
  // Directions of the straight pieces, all of which pass above the rollers.
  const rise = along([-0.9, 0], a) + Math.asin(a[2] / far([-0.9, 0], a));
  const level = along(a, b) - Math.asin((a[2] - b[2]) / far(a, b));
  const fall = along(b, low) - Math.asin(b[2] / far(b, low));
  const straight = Math.sqrt(far([-0.9, 0], a) ** 2 - a[2] ** 2) + Math.sqrt(far(a, b) ** 2 - (a[2] - b[2]) ** 2) + Math.sqrt(far(b, low) ** 2 - b[2] ** 2);
  const length = straight + a[2] * (rise - level) + b[2] * (level - fall);
  near("length over both rollers", await number("length"), length, 2 * PIXEL);
  near("tension over both rollers", await number("tension"), 200 * (await number("length") - 1.5), 0.02);
  near("moment arm on the roller", await number("arm"), 0.12, 1e-4);

  // Up: straight to the end, over no roller but under none either.
  const high = [0.7, 1.0 - 0.35];
  await drag(low, high);
  await picture("lifted");
  const lifted = await number("length");
  assert(lifted < length && lifted >= far([-0.9, 0], high) - PIXEL, `lifted: ${lifted}`);
  console.log(`length when lifted: ${lifted}, at least ${far([-0.9, 0], high).toFixed(4)}`);

  // The block: what friction can hold, it holds.
  const push = async (force) => page.locator("#push").fill(String(force));
  await push(60);
  await page.waitForTimeout(700);
  const held = await number("way");
  assert(held < 1, `under 60 N it has moved ${held} mm`);
  await page.waitForTimeout(700);
  await picture("held");
  near("creep under 60 N [mm]", (await number("way")) - held, 0, 0.01);
  assert.equal(await number("slipping"), 0);
  await push(130);
  await page.waitForFunction(() => Number.parseFloat(document.getElementById("way").value) > 40, null, { timeout: 20000 });
  await picture("slipping");
  console.log(`under 130 N it slips: ${await number("way")} mm, ${await number("slipping")} of 2 corners`);
  assert.equal(await number("slipping"), 2);
  await push(0);
  await page.waitForTimeout(1500);
  const [rest, slipping] = [await number("way"), await number("slipping")];
  await page.waitForTimeout(500);
  near("creep without a push [mm]", (await number("way")) - rest, 0, 0.01);
  assert.equal(slipping, 0);
  assert.deepEqual(failures, []);
  console.log("the page works");
} finally {
  await browser.close();
  server.close();
  rmSync(profile, { recursive: true, force: true });
}
