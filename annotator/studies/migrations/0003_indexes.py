from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0002_protocols_and_groups"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="group",
            name="open_groups",
        ),
        migrations.RemoveIndex(
            model_name="item",
            name="open_items",
        ),
        migrations.AddIndex(
            model_name="group",
            index=models.Index(fields=["study", "open_slots", "draw", "id"], name="open_groups"),
        ),
        migrations.AddIndex(
            model_name="item",
            index=models.Index(
                condition=models.Q(
                    ("check_kind", ""),
                    models.Q(("target__isnull", True), ("taken__lt", models.F("target")), _connector="OR"),
                ),
                fields=["study", "draw", "id"],
                name="open_items",
            ),
        ),
    ]
