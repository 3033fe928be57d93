// biome-ignore lint/style/noDefaultExport: jest asks for one.
export default async function teardown() {
  await globalThis.countersignTestData?.remove();
}
