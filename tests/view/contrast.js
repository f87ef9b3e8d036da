// The texts on a page whose contrast is under that of WCAG 2.2, level AA: "TAG.class ratio text".
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (css) => { // red, green, blue and how much of it covers what is behind
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = css; canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((part, i) => part * top[3] + below[i] * (1 - top[3]));
  const light = (rgb) => rgb.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    const above = element.parentElement ? behind(element.parentElement) : [255, 255, 255];
    return over(colour(getComputedStyle(element).backgroundColor), above);
  };
  const low = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.data.trim(), element = walk.currentNode.parentElement;
    if (!text || element.closest(":disabled") || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element), drawn = element instanceof SVGElement;
    const disc = drawn && element.closest(".d, .disc")?.querySelector("circle");
    const ground = disc ? over(colour(getComputedStyle(disc).fill), behind(disc)) : behind(element);
    const [one, other] = [light(over(colour(drawn ? style.fill : style.color), ground)), light(ground)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < least) low.add(`${element.tagName}.${element.getAttribute("class")} ${ratio.toFixed(2)} ${text}`);
  }
  return [...low];
}
