// What plain forms cannot do: the slider, uploads, a filter, and buttons that say that they are busy.
"use strict";

// The slider runs over powers of ten, from 0.01 to 20; the box beside it is what counts.
const slider = document.getElementById("slider");
const epsilon = document.getElementById("epsilon");
const LOWEST = 0.01;
const HIGHEST = 20;
const STEPS = 330;
function toEpsilon(place) {
  return String(Number((LOWEST * (HIGHEST / LOWEST) ** (place / STEPS)).toPrecision(2)));
}
function toPlace(value) {
  return Math.round((STEPS * Math.log(value / LOWEST)) / Math.log(HIGHEST / LOWEST));
}
function follow() {
  if (Number(epsilon.value) > 0) slider.value = String(toPlace(Number(epsilon.value)));
  slider.setAttribute("aria-valuetext", "epsilon " + epsilon.value);
}
if (slider && epsilon) {
  slider.addEventListener("input", () => {
    epsilon.value = toEpsilon(Number(slider.value));
    slider.setAttribute("aria-valuetext", "epsilon " + epsilon.value);
  });
  epsilon.addEventListener("input", follow);
  follow();
}

// A file goes up as it is, as the body of a request; its name is in a header, not in the address.
const upload = document.getElementById("upload");
if (upload) {
  upload.addEventListener("submit", async (event) => {
    event.preventDefault();
    const status = document.getElementById("upload-status");
    const file = document.getElementById("file").files[0];
    if (!file) {
      status.textContent = "Choose a file first.";
      return;
    }
    status.textContent = "Copying …";
    try {
      const answer = await fetch("/data/upload", {
        method: "POST",
        body: file,
        headers: { "X-File-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" },
      });
      if (answer.ok) location.assign(await answer.text());
      else status.textContent = answer.status === 413 ? "The file is too large to upload; choose it by its path." : "The upload failed.";
    } catch {
      status.textContent = "The upload failed; the file may be too large. Choose it by its path.";
    }
  });
}

const filter = document.getElementById("filter");
if (filter) {
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const row of document.querySelectorAll("#columns tbody tr"))
      row.hidden = !row.querySelector("th").textContent.toLowerCase().includes(wanted);
  });
}

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (button && button.dataset.busy && !event.defaultPrevented) {
    // After the form was sent: a disabled button would not be part of it.
    setTimeout(() => {
      button.disabled = true;
      button.textContent = button.dataset.busy;
    });
  }
});
// A page from the back button's memory must not show a busy button.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
