"""Blender's side of the second world: meshes, materials, lamps and the camera, and one picture rendered by Cycles.

This is the only module that imports ``bpy``. Lengths are given in mm and stored in decimetres. Blender animates nothing
between two frames: each mesh is given in its shape as the shutter opens and as the last row closes, and
Cycles blends between them, row after row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import bpy
import cv2
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from tools.second_world.hand_model import Points
from tools.second_world.things import View

MM: Final = 0.01
"""Blender units per millimetre."""
Faces = Sequence[tuple[int, ...]]


@contextmanager
def _silent() -> Iterator[None]:
    """Keep Blender's own lines off standard output."""
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _image(picture: NDArray[np.uint8]) -> Any:
    """Return a picture (H x W x 3, blue first) as a Blender image."""
    height, width = picture.shape[:2]
    out = bpy.data.images.new("picture", width, height)
    rgba = np.ones((height, width, 4), np.float32)
    rgba[..., :3] = picture[::-1, :, ::-1].astype(np.float32) / 255
    out.pixels.foreach_set(rgba.ravel())
    out.pack()
    return out


def _place(thing: Any, place: Points, axes: NDArray[np.float64]) -> None:
    """Put a lamp or a camera at a place (mm) with its axes (columns)."""
    thing.location = [float(v) * MM for v in place]
    thing.rotation_euler = Matrix(axes.tolist()).to_euler()


class Studio:
    """One scene in Blender, and its pictures.

    Args:
        view: the camera.
        samples: light paths a pixel; few, and the picture is denoised.
        threads: how many of the machine's cores render.
    """

    def __init__(self, view: View, samples: int, threads: int = 1) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self._scene = scene = bpy.context.scene
        self._view = view
        self._things: dict[str, Any] = {}
        scene.render.engine = "CYCLES"
        cycles = scene.cycles
        cycles.device, cycles.samples, cycles.use_adaptive_sampling = "CPU", samples, False
        cycles.use_denoising, cycles.denoiser = True, "OPENIMAGEDENOISE"
        cycles.denoising_input_passes, cycles.denoising_prefilter = "RGB_ALBEDO", "FAST"
        cycles.denoising_quality, cycles.use_light_tree = "FAST", False
        cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 3, 2, 1
        cycles.caustics_reflective = cycles.caustics_refractive = False
        cycles.sample_clamp_indirect = 4.0
        render = scene.render
        render.resolution_x, render.resolution_y, render.resolution_percentage = view.width, view.height, 100
        render.threads_mode, render.threads = "FIXED", threads
        render.use_persistent_data = True
        render.image_settings.file_format = "PNG"
        render.use_motion_blur, render.dither_intensity = False, 0.0
        render.motion_blur_position, render.motion_blur_shutter = "START", 1.0
        self._add_camera()
        self._ids = self._id_material()

    def _add_camera(self) -> None:
        data = bpy.data.cameras.new("camera")
        data.sensor_fit, data.sensor_width = "HORIZONTAL", 36.0
        data.lens = 36.0 * self._view.focal
        camera = bpy.data.objects.new("camera", data)
        _place(camera, self._view.place, self._view.axes)
        self._scene.collection.objects.link(camera)
        self._scene.camera = camera

    # Light

    def set_sky(self, bright: tuple[float, float, float], dark: tuple[float, float, float], towards: float) -> None:
        """Light the scene by the surrounding room: brighter towards one side (degrees), as in a room with a window."""
        world = bpy.data.worlds.new("room")
        self._scene.world = world
        world.use_nodes = True
        nodes, links = world.node_tree.nodes, world.node_tree.links
        nodes.clear()
        place = nodes.new("ShaderNodeTexCoord")
        dot = nodes.new("ShaderNodeVectorMath")
        dot.operation = "DOT_PRODUCT"
        a = np.radians(towards)
        dot.inputs[1].default_value = (0.8 * np.cos(a), 0.8 * np.sin(a), 0.3)
        links.new(place.outputs["Generated"], dot.inputs[0])
        mix = nodes.new("ShaderNodeMixRGB")
        mix.inputs[1].default_value, mix.inputs[2].default_value = (*dark, 1), (*bright, 1)
        links.new(dot.outputs["Value"], mix.inputs[0])
        glow = nodes.new("ShaderNodeBackground")
        links.new(mix.outputs[0], glow.inputs["Color"])
        out = nodes.new("ShaderNodeOutputWorld")
        links.new(glow.outputs[0], out.inputs[0])

    def add_sun(self, height: float, bearing: float, strength: float, colour: Sequence[float], size: float) -> None:
        """Add a window's sunlight, ``height`` degrees up, from ``bearing``, ``size`` degrees wide: hard shadows."""
        lamp = bpy.data.lights.new("sun", "SUN")
        lamp.energy, lamp.color, lamp.angle = strength, tuple(colour), np.radians(size)
        sun = bpy.data.objects.new("sun", lamp)
        sun.rotation_euler = (0.0, np.radians(90 - height), np.radians(bearing))
        self._scene.collection.objects.link(sun)

    def add_lamp(self, place: Sequence[float], size: float, power: float, colour: Sequence[float]) -> None:
        """Add a round lamp (mm) that shines down at the table's middle: the larger, the softer its shadows."""
        lamp = bpy.data.lights.new("lamp", "AREA")
        lamp.shape, lamp.size, lamp.energy, lamp.color = "DISK", size * MM, power, tuple(colour)
        thing = bpy.data.objects.new("lamp", lamp)
        back = np.asarray(place, np.float64) / np.linalg.norm(place)
        right = np.cross([0.0, 1.0, 0.001], back)
        right /= np.linalg.norm(right)
        _place(thing, np.asarray(place, np.float64), np.stack([right, np.cross(back, right), back], axis=1))
        self._scene.collection.objects.link(thing)

    # Materials

    def material(
        self,
        picture: NDArray[np.uint8] | Sequence[float],
        *,
        back: NDArray[np.uint8] | None = None,
        rough: float = 0.6,
        gloss: float = 0.3,
        mottle: float = 0.0,
        coat: float = 0.0,
    ) -> Any:
        """Make a surface from a picture (blue first) or one colour (red first, linear).

        Args:
            picture: on the front.
            back: on the other side.
            rough: 0 a mirror, 1 chalk.
            gloss: how strongly it mirrors.
            mottle: how blotchy the colour is, as skin is.
            coat: a layer of varnish on it.
        """
        out = bpy.data.materials.new("surface")
        out.use_nodes = True
        nodes, links = out.node_tree.nodes, out.node_tree.links
        surface = nodes["Principled BSDF"]
        surface.inputs["Roughness"].default_value = rough
        surface.inputs["Specular IOR Level"].default_value = gloss
        surface.inputs["Coat Weight"].default_value = coat
        colour = self._colour(nodes, picture)
        if back is not None:
            side = nodes.new("ShaderNodeNewGeometry").outputs["Backfacing"]
            colour = self._mixed(out.node_tree, side, colour, self._colour(nodes, back))
        if mottle:
            noise = nodes.new("ShaderNodeTexNoise")
            noise.inputs["Scale"].default_value, noise.inputs["Detail"].default_value = 6.0, 4.0
            colour = self._mixed(out.node_tree, mottle, colour, noise.outputs[0], "OVERLAY")
        links.new(colour, surface.inputs["Base Color"])
        return out

    @staticmethod
    def _mixed(tree: Any, share: Any, one: Any, other: Any, how: str = "MIX") -> Any:
        """Mix two colours; ``share`` is a number or a node's output."""
        mix = tree.nodes.new("ShaderNodeMixRGB")
        mix.blend_type = how
        if isinstance(share, float):
            mix.inputs[0].default_value = share
        else:
            tree.links.new(share, mix.inputs[0])
        tree.links.new(one, mix.inputs[1])
        tree.links.new(other, mix.inputs[2])
        return mix.outputs[0]

    @staticmethod
    def _colour(nodes: Any, picture: NDArray[np.uint8] | Sequence[float]) -> Any:
        if isinstance(picture, np.ndarray):
            node = nodes.new("ShaderNodeTexImage")
            node.image, node.extension = _image(picture), "REPEAT"
            return node.outputs["Color"]
        node = nodes.new("ShaderNodeRGB")
        node.outputs[0].default_value = (*picture, 1.0)
        return node.outputs[0]

    @staticmethod
    def _id_material() -> Any:
        """Make a material that encodes a pixel's thing (red), and whether its back is seen (green)."""
        out = bpy.data.materials.new("ids")
        out.use_nodes = True
        nodes, links = out.node_tree.nodes, out.node_tree.links
        nodes.clear()
        info, side = nodes.new("ShaderNodeObjectInfo"), nodes.new("ShaderNodeNewGeometry")
        share = nodes.new("ShaderNodeMath")
        share.operation, share.inputs[1].default_value = "DIVIDE", 255.0
        links.new(info.outputs["Object Index"], share.inputs[0])
        both = nodes.new("ShaderNodeCombineColor")
        links.new(share.outputs[0], both.inputs[0])
        links.new(side.outputs["Backfacing"], both.inputs[1])
        glow, end = nodes.new("ShaderNodeEmission"), nodes.new("ShaderNodeOutputMaterial")
        links.new(both.outputs[0], glow.inputs["Color"])
        links.new(glow.outputs[0], end.inputs[0])
        return out

    # Things

    def add_mesh(
        self,
        name: str,
        points: Points,
        faces: Faces,
        material: Any,
        index: int,
        *,
        uv: NDArray[np.float64] | None = None,
        smooth: bool = True,
        unseen: bool = False,
    ) -> None:
        """Put a thing into the scene.

        Args:
            name: for `move`.
            points: N x 3, mm.
            faces: corners of each face, counter-clockwise seen from its front.
            material: made by `material`.
            index: 0 to 255, its number in `ids`.
            uv: N x 2, the place in the picture of each point.
            smooth: whether it is shaded as round.
            unseen: it casts shadows and the camera does not see it.
        """
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata((points * MM).tolist(), [], [list(face) for face in faces])
        mesh.polygons.foreach_set("use_smooth", [smooth] * len(mesh.polygons))
        if uv is not None:
            layer = mesh.uv_layers.new(name="uv")
            corners = np.empty(len(mesh.loops), np.int32)
            mesh.loops.foreach_get("vertex_index", corners)
            layer.data.foreach_set("uv", uv[corners].astype(np.float32).ravel())
        mesh.materials.append(material)
        thing = bpy.data.objects.new(name, mesh)
        thing.pass_index = index
        thing.visible_camera = not unseen
        self._scene.collection.objects.link(thing)
        self._things[name] = thing

    def move(self, name: str, opened: Points, closed: Points | None = None) -> None:
        """Set a thing's points as the shutter opens and, where it moves, as the last row closes (mm)."""
        thing = self._things[name]
        thing.hide_render = False
        mesh = thing.data
        flat = (opened * MM).astype(np.float32).ravel()
        mesh.vertices.foreach_set("co", flat)
        if closed is not None and mesh.shape_keys is None:
            thing.shape_key_add(name="opened", from_mix=False)
            end = thing.shape_key_add(name="closed", from_mix=False)
            for frame in (0, 1):
                end.value = float(frame)
                end.keyframe_insert("value", frame=frame)
        if mesh.shape_keys is not None:
            blocks = mesh.shape_keys.key_blocks
            blocks[0].data.foreach_set("co", flat)
            blocks[1].data.foreach_set("co", flat if closed is None else (closed * MM).astype(np.float32).ravel())
        mesh.update()
        mesh.update_tag()

    def hide(self, name: str) -> None:
        """Take a thing out of the picture until it is moved again."""
        self._things[name].hide_render = True

    # Pictures

    def picture(
        self, scratch: Path, row_share: float = 0.0, part: tuple[int, int, int, int] | None = None
    ) -> NDArray[np.uint8]:
        """Render the scene: H x W x 3, blue first.

        Args:
            scratch: a file that may be overwritten.
            row_share: each row's exposure as a share of the time of the whole picture; 0 for a still.
            part: the rectangle to render (left, top, right, bottom; px); without one the whole picture.
        """
        scene = self._scene
        scene.render.use_motion_blur = row_share > 0
        scene.cycles.rolling_shutter_type = "TOP" if row_share > 0 else "NONE"
        scene.cycles.rolling_shutter_duration = row_share
        scene.view_settings.view_transform = "Standard"
        left, top, right, bottom = part or (0, 0, self._view.width, self._view.height)
        render = scene.render
        render.use_border = render.use_crop_to_border = part is not None
        render.border_min_x, render.border_max_x = left / self._view.width, right / self._view.width
        render.border_min_y, render.border_max_y = 1 - bottom / self._view.height, 1 - top / self._view.height
        return self._render(scratch)

    def ids(self, scratch: Path) -> NDArray[np.uint8]:
        """Return each pixel's thing as the shutter opens:

        H x W x 2, the thing's index, and 255 where a back is seen.
        """
        scene, cycles = self._scene, self._scene.cycles
        samples, scene.render.use_motion_blur = cycles.samples, False
        layer = scene.view_layers[0]
        layer.material_override, cycles.samples, cycles.use_denoising = self._ids, 1, False
        cycles.pixel_filter_type, cycles.filter_width = "BOX", 0.01
        scene.view_settings.view_transform = "Raw"
        try:
            out = self._render(scratch)
        finally:
            layer.material_override, cycles.samples, cycles.use_denoising = None, samples, True
            cycles.pixel_filter_type, cycles.filter_width = "BLACKMAN_HARRIS", 1.5
        return np.ascontiguousarray(out[..., [2, 1]])

    def _render(self, scratch: Path) -> NDArray[np.uint8]:
        scene = self._scene
        scene.frame_set(0)
        scene.render.filepath = str(scratch)
        with _silent():
            bpy.ops.render.render(write_still=True)
        return np.asarray(cv2.imread(str(scratch)), np.uint8)


def _capsule(start: Points, end: Points, first: float, last: float) -> tuple[Points, list[tuple[int, ...]]]:
    """A tapered capsule's closed mesh: rings from pole to pole; mm."""
    rings, around = 30, 20
    length = float(np.linalg.norm(end - start))
    along = (end - start) / length
    side = np.cross(along, [0.3, 0.5, 0.81])
    side /= np.linalg.norm(side)
    # Half a sphere, the taper, half a sphere.
    t = np.concatenate([np.linspace(-np.pi / 2, 0, 8), np.zeros(rings - 16), np.linspace(0, np.pi / 2, 8)])
    s = np.concatenate([np.zeros(8), np.linspace(0, 1, rings - 16), np.ones(8)])
    radius = first + (last - first) * s
    middles = start + along * (s * length + radius * np.sin(t))[:, None]
    a = np.arange(around) * 2 * np.pi / around
    ring = np.cos(a)[:, None] * side + np.sin(a)[:, None] * np.cross(along, side)
    points = middles[:, None] + (radius * np.cos(t) + 0.01)[:, None, None] * ring[None]
    faces: list[tuple[int, ...]] = [
        (i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
        for i in range(rings - 1)
        for j in range(around)
    ]
    faces += [tuple(reversed(range(around))), tuple(range((rings - 1) * around, rings * around))]
    return points.reshape(-1, 3), faces


def grow_skin(
    capsules: Sequence[tuple[Points, Points, float, float]], grain: float
) -> tuple[Points, list[tuple[int, ...]]]:
    """One smooth closed mesh round tapered capsules (start, end, radii; mm), of faces about ``grain`` mm wide."""
    points: list[Points] = []
    faces: list[tuple[int, ...]] = []
    for capsule in capsules:
        base = sum(map(len, points))
        part, sides = _capsule(*capsule)
        points.append(part)
        faces += [tuple(base + corner for corner in face) for face in sides]
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata((np.concatenate(points) * MM).tolist(), [], [list(face) for face in faces])
    thing = bpy.data.objects.new("skin", mesh)
    bpy.context.scene.collection.objects.link(thing)
    remesh = thing.modifiers.new("one", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", grain * MM
    soft = thing.modifiers.new("soft", "SMOOTH")
    soft.factor, soft.iterations = 0.5, 7
    whole = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    out = np.empty(len(whole.vertices) * 3, np.float32)
    whole.vertices.foreach_get("co", out)
    polygons = [tuple(polygon.vertices) for polygon in whole.polygons]
    bpy.data.objects.remove(thing)
    return out.reshape(-1, 3).astype(np.float64) / MM, polygons
