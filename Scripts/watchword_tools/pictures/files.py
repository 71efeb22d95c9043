"""A folder of pictures, and the JSON file that describes them."""
import io
import json


def encoded(image, format, **options):
    """Returns the file that Pillow writes."""
    buffer = io.BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


class PictureFolder:
    """Collects pictures in a folder, with the facts about each."""

    def __init__(self, folder):
        self.folder = folder
        self.cases = []
        folder.mkdir(parents=True, exist_ok=True)

    def keep(self, name, content, **facts):
        (self.folder / name).write_bytes(content)
        self.cases.append({"file": name, **facts})

    def describe(self, path, source):
        """Writes the facts."""
        text = json.dumps({"source": source, "cases": self.cases}, ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
