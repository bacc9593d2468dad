// Opens a recording in three.js' loader of glTF in headless Chromium, and writes the frame at a time [s] as a picture.
//
//     node examples/view.mjs RECORDING.glb SECONDS PICTURE.png [TIME]
import { strict as assert } from "node:assert";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

// From where it is run, which has the packages.
const { chromium } = createRequire(join(process.cwd(), "_.js"))("playwright-core");
const [recording, seconds, picture, time = "2"] = process.argv.slice(2);
const html = `<!doctype html><style>body { margin: 0 }</style>
<script type="importmap">{ "imports": { "three": "/three/build/three.module.js" } }</script>
<script type="module">
import * as three from "three";
import { GLTFLoader } from "/three/examples/jsm/loaders/GLTFLoader.js";
const gltf = await new GLTFLoader().loadAsync("/recording.glb");
const renderer = new three.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
renderer.setSize(800, 600);
document.body.append(renderer.domElement);
const scene = new three.Scene();
scene.background = new three.Color("white");
scene.add(gltf.scene, new three.HemisphereLight("white", "gray", 2.5));
const sun = new three.DirectionalLight("white", 2);
sun.position.set(1, 3, 4);
scene.add(sun);
const camera = new three.PerspectiveCamera(40, 4 / 3, 0.1, 50);
const mixer = new three.AnimationMixer(scene);
const clip = gltf.animations[0];
mixer.clipAction(clip).play();
mixer.setTime(${Number(time)});
const box = new three.Box3().setFromObject(gltf.scene), middle = box.getCenter(new three.Vector3());
const size = box.getSize(new three.Vector3()).length();
camera.position.copy(middle).add(new three.Vector3(0.4, 0.2, 1).multiplyScalar(1.1 * size));
camera.lookAt(middle);
renderer.render(scene, camera);
window.found = { seconds: clip.duration, tracks: clip.tracks.length, meshes: gltf.scene.getObjectsByProperty("isMesh", true).length };
</script>`;
const server = createServer((request, response) => {
  const three = request.url.startsWith("/three/");
  const type = request.url.endsWith(".js") ? "text/javascript" : request.url === "/" ? "text/html" : "model/gltf-binary";
  response.writeHead(200, { "content-type": type });
  response.end(request.url === "/" ? html : three ? readFileSync(join("node_modules", request.url)) : readFileSync(recording));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const profile = mkdtempSync(join(tmpdir(), "view-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  viewport: { width: 800, height: 600 },
});
try {
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.error(String(error)));
  page.on("console", (message) => message.type() === "error" && console.error(message.text()));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction(() => window.found, null, { timeout: 30000 });
  const found = await page.evaluate(() => window.found);
  console.log(JSON.stringify(found));
  assert(Math.abs(found.seconds - Number(seconds)) < 1e-6 && found.meshes > 5);
  await page.screenshot({ path: picture });
} finally {
  await browser.close();
  server.close();
  rmSync(profile, { recursive: true, force: true });
}
