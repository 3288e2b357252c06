// Takes a photograph or a short video with the browser's camera. A canvas or a player shows the
// picture from memory. No form sends the picture, and the browser deletes it with the page.

const videoSeconds = 4;

function camera(root) {
  const part = (name) => root.querySelector(`[data-${name}]`);
  const [live, picture, playback, message] = ["live", "picture", "playback", "message"].map(part);
  const [openButton, takeButton, againButton, keepForm, pretendForm] = ["open", "take", "again", "keep", "pretend"].map(part);
  const seconds = part("seconds");
  const films = root.dataset.camera === "video";
  let stream;

  const show = (visible) => {
    const all = [live, picture, playback, seconds, openButton, takeButton, againButton, keepForm];
    for (const element of all) element.hidden = !visible.includes(element);
    part("drawing").hidden = [live, picture, playback].some((element) => visible.includes(element));
    // The button for a sample picture is visible until a picture is taken.
    pretendForm.hidden = visible.includes(keepForm) || visible.includes(seconds);
  };
  const say = (text) => {
    message.textContent = text;
  };
  const release = () => {
    for (const track of stream?.getTracks() ?? []) track.stop();
    stream = undefined;
    live.srcObject = null;
  };

  async function open() {
    say("");
    openButton.disabled = true;
    try {
      stream = await navigator.mediaDevices.getUserMedia({
        video: { facingMode: root.dataset.facing, width: { ideal: 1280 } },
        audio: false,
      });
      live.srcObject = stream;
      await live.play();
      show([live, takeButton]);
      takeButton.focus();
    } catch (error) {
      release();
      show([openButton]);
      say(error.name === "NotAllowedError" ? root.dataset.denied : root.dataset.missing);
    }
    openButton.disabled = false;
  }

  function photograph() {
    picture.width = live.videoWidth;
    picture.height = live.videoHeight;
    picture.getContext("2d").drawImage(live, 0, 0);
    release();
    taken(picture);
  }

  function film() {
    const pieces = [];
    const recorder = new MediaRecorder(stream);
    recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
    recorder.addEventListener("stop", () => {
      URL.revokeObjectURL(playback.src);
      playback.src = URL.createObjectURL(new Blob(pieces, { type: recorder.mimeType }));
      release();
      taken(playback);
    });
    recorder.start();
    show([live, seconds]);
    say(root.dataset.filming);
    let left = videoSeconds;
    seconds.textContent = left;
    const timer = setInterval(() => {
      left -= 1;
      seconds.textContent = left;
      if (left > 0) return;
      clearInterval(timer);
      recorder.stop();
    }, 1000);
  }

  function taken(element) {
    show([element, keepForm, againButton]);
    say(root.dataset.taken);
    keepForm.querySelector("button").focus();
  }

  openButton.addEventListener("click", open);
  againButton.addEventListener("click", open);
  takeButton.addEventListener("click", () => (films ? film() : photograph()));
  window.addEventListener("pagehide", release);

  if (!navigator.mediaDevices?.getUserMedia || (films && typeof MediaRecorder === "undefined")) {
    say(root.dataset.missing);
    return;
  }
  pretendForm.querySelector("button").className = "secondary";
  show([openButton]);
}

for (const root of document.querySelectorAll("[data-camera]")) camera(root);
